package recipes

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// GoMain is a program that this machine's Go toolchain builds, from a main package of a few lines or from the system's
// own, with the versions of all modules it imports. A module of its own takes the replace directives that "go install"
// refuses.
type GoMain struct {
	Main string   // "" for a program whose own main package is built
	Mod  string   // its go.mod
	Sum  string   // "" lets the toolchain resolve what Mod leaves open, by the checksum database
	Pkg  string   // that package; "" is the one in Main
	Path string   // of the program in the image
	More []string // further files of the main package
}

const noGo = "it is built with Go: install it from https://go.dev/dl"

// flags build a static program that is the same wherever it is built.
var flags = []string{"-trimpath", "-buildvcs=false", "-ldflags=-s -w"}

func (g GoMain) content() []string {
	all := append([]string{g.Main, g.Mod, g.Sum, g.Path}, flags...)
	if g.Pkg != "" {
		all = append(all, g.Pkg)
	}
	return append(all, g.More...)
}

func (g GoMain) make(ctx context.Context, b builder) (root string, err error) {
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
	pkg, err := g.write(src)
	if err != nil {
		return "", err
	}
	resolve := "-mod=mod"
	if g.Sum != "" {
		resolve = "-mod=readonly"
	}
	if root, err = b.folder("root"); err != nil {
		return "", err
	}
	args := append([]string{"build", "-v", resolve, "-o", filepath.Join(root, g.Path)}, flags...)
	env := []string{
		"CGO_ENABLED=0", "GOOS=linux", "GOARCH=" + runtime.GOARCH, "GO111MODULE=on", "GOWORK=off", "TMPDIR=" + tmp,
		"GOFLAGS=-trimpath", // an empty one would not hide the user's own
	}
	return root, ofVersions(ctx, b.run(ctx, src, env, "go", append(args, pkg)...))
}

// write writes the module to a folder, and returns the package of it to build.
func (g GoMain) write(dir string) (pkg string, err error) {
	files, pkg := map[string]string{"go.mod": g.Mod}, g.Pkg
	if g.Main != "" {
		files["main.go"], pkg = g.Main, "."
	}
	for i, more := range g.More {
		files[fmt.Sprintf("more%d.go", i)] = more
	}
	if g.Sum != "" {
		files["go.sum"] = g.Sum
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	return pkg, nil
}
