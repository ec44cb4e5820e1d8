package recipes

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
)

// goMain is a program that this machine's Go toolchain builds, from a main package of a few lines or from the system's
// own, with the versions of all modules it imports. A module of its own takes the replace directives that "go install"
// refuses.
type goMain struct {
	main string // "" for a program whose own main package is built
	mod  string
	sum  string // "" lets the toolchain resolve what mod leaves open, by the checksum database
	pkg  string // that package; "" is the one in main
	path string // of the program in the image
	more string // a second file of the main package
}

const noGo = "it is built with Go: install it from https://go.dev/dl"

// flags build a static program that is the same wherever it is built.
var flags = []string{"-trimpath", "-buildvcs=false", "-ldflags=-s -w"}

func (g goMain) content() []string {
	all := append([]string{g.main, g.mod, g.sum, g.path}, flags...)
	if g.pkg != "" {
		all = append(all, g.pkg)
	}
	if g.more != "" {
		all = append(all, g.more)
	}
	return all
}

func (g goMain) make(ctx context.Context, b bench) (root string, err error) {
	if err := need("go", noGo); err != nil {
		return "", err
	}
	src, err := b.folder("src")
	if err != nil {
		return "", err
	}
	tmp, err := b.folder("tmp")
	if err != nil {
		return "", err
	}
	files, pkg, resolve := map[string]string{"go.mod": g.mod}, g.pkg, "-mod=mod"
	if g.main != "" {
		files["main.go"], pkg = g.main, "."
	}
	if g.more != "" {
		files["more.go"] = g.more
	}
	if g.sum != "" {
		files["go.sum"], resolve = g.sum, "-mod=readonly"
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(src, name), []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	if root, err = b.folder("root"); err != nil {
		return "", err
	}
	args := append([]string{"build", "-v", resolve, "-o", filepath.Join(root, g.path)}, flags...)
	env := []string{
		"CGO_ENABLED=0", "GOOS=linux", "GOARCH=" + runtime.GOARCH, "GO111MODULE=on", "GOWORK=off", "TMPDIR=" + tmp,
		"GOFLAGS=-trimpath", // an empty one would not hide the user's own
	}
	return root, b.run(ctx, src, env, "go", append(args, pkg)...)
}
