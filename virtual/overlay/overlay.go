// Package overlay builds Go programs that can run as nodes in virtual time: with a standard library that is patched as
// it is compiled ("go build -overlay"). A program built so and started in any other way is an ordinary one.
//
// The patches are data (patches.go), applied to the GOROOT of the go command that builds. What is new is in std/: the
// parts of package runtime that schedule and tell the time, and a small kernel in package syscall. Packages net, os and
// all others are as they are.
//
// What a node cannot have: cgo; processes of its own; raw sockets and unix sockets of datagrams or packets; select, and
// descriptors of timers and signals; traces and profiles of real time. It is told so, and the controller
// is (wire.Refused). What is not exact: numbers of memory (runtime.MemStats), what golang.org/x/sys/unix asks without package
// syscall (unix.Getpid, unix.Sync); and when files that are written through memory (MAP_SHARED) change, which is told when
// they are synced (wire.Map).
package overlay

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"recount/internal/gobuild"
	"recount/internal/hint"
	"recount/internal/whole"
	"recount/virtual/wire"
)

//go:embed std
var std embed.FS

// wirePackage is where package wire is in the patched standard library.
const wirePackage = "internal/virtual"

// Toolchain is a go command and the library that it compiles.
type Toolchain struct {
	Go      string // the command
	Root    string // GOROOT
	Version string // "go1.26.8"
	Arch    string // the architecture that is built for
	Moved   bool   // Root is not where Go has it
}

// toolchain asks the go command what it would build with in a folder.
func toolchain(ctx context.Context, goCmd, dir, cache string, env []string, progress func(string)) (Toolchain, error) {
	defer gobuild.Tell("finding the Go release to build with", nil, progress)() // which may have to be fetched, or copied
	cmd := exec.CommandContext(ctx, goCmd, "env", "-json", "GOROOT", "GOVERSION", "GOARCH", "GOOS", "GOMODCACHE")
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.Output()
	if err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return Toolchain{}, hint.Add(errors.New("there is no go command to build servers for virtual time with"), "install Go 1.25 or 1.26, and put it into PATH")
		}
		return Toolchain{}, fmt.Errorf("go env: %w%s", err, stderrOf(err))
	}
	var e struct{ GOROOT, GOVERSION, GOARCH, GOOS, GOMODCACHE string }
	if err := json.Unmarshal(out, &e); err != nil {
		return Toolchain{}, fmt.Errorf("go env: %w", err)
	}
	if e.GOOS != "linux" {
		return Toolchain{}, fmt.Errorf("virtual time is for linux, not for %s", e.GOOS)
	}
	t := Toolchain{Go: goCmd, Root: e.GOROOT, Version: e.GOVERSION, Arch: e.GOARCH}
	if strings.HasPrefix(t.Root, e.GOMODCACHE+"/") || strings.HasPrefix(t.Version, "go1.25") {
		return t.outside(cache)
	}
	return t, nil
}

// outside is the same toolchain at another place, with a copy of its library: the go command refuses to replace files of
// the module cache, which is where it puts toolchains that it has fetched itself; and that of Go 1.25 wants to see a folder
// for each package of the library.
func (t Toolchain) outside(cache string) (Toolchain, error) {
	root := filepath.Join(cache, "goroot", t.Version)
	moved := Toolchain{Go: filepath.Join(t.Root, "bin", "go"), Root: root, Version: t.Version, Arch: t.Arch, Moved: true}
	if _, err := os.Stat(root); err == nil {
		return moved, nil
	}
	if err := os.MkdirAll(filepath.Dir(root), 0o755); err != nil {
		return t, err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(root), ".new-*")
	if err != nil {
		return t, err
	}
	defer os.RemoveAll(tmp)
	err = os.CopyFS(filepath.Join(tmp, "src"), os.DirFS(filepath.Join(t.Root, "src")))
	err = errors.Join(err, whole.Write(filepath.Join(tmp, "src", wirePackage, "virtual.go"), []byte("package wire\n")))
	for _, name := range []string{"bin", "lib", "pkg", "go.env", "VERSION"} {
		err = errors.Join(err, os.Symlink(filepath.Join(t.Root, name), filepath.Join(tmp, name)))
	}
	if err != nil {
		return t, fmt.Errorf("copy the library of %s: %w", t.Version, err)
	}
	if err := os.Rename(tmp, root); err != nil && !errors.Is(err, fs.ErrExist) {
		return t, err
	}
	return moved, nil
}

func stderrOf(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return ": " + strings.TrimSpace(string(exit.Stderr))
	}
	return ""
}

// files are all files of the patched library that differ from GOROOT's, by their path below src. An error names the Go
// version, and each file and function that a patch does not fit, and what it is for.
func (t Toolchain) files() (map[string]string, error) {
	text := map[string]string{}
	var misfits []error
	for _, p := range patches {
		name := strings.ReplaceAll(p.file, "$GOARCH", t.Arch)
		if _, ok := text[name]; !ok {
			b, err := os.ReadFile(filepath.Join(t.Root, "src", name))
			if err != nil {
				misfits = append(misfits, fmt.Errorf("%s: %s (%s): %w", t.Version, name, p.why, err))
				continue
			}
			text[name] = string(b)
		}
		s, err := p.apply(text[name])
		if err != nil {
			misfits = append(misfits, fmt.Errorf("%s: %s: %w (%s)", t.Version, name, err, p.why))
			continue
		}
		text[name] = s
	}
	if err := errors.Join(misfits...); err != nil {
		return nil, hint.Add(err, "virtual time is for Go 1.25 and 1.26 on linux/amd64 and linux/arm64: set GOTOOLCHAIN=go1.26.0, say")
	}
	err := fs.WalkDir(std, "std", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := std.ReadFile(path)
		text[strings.TrimSuffix(strings.TrimPrefix(path, "std/"), ".txt")] = string(b)
		return err
	})
	if err != nil {
		return nil, err
	}
	sources, err := wire.Source.ReadDir(".")
	if err != nil {
		return nil, err
	}
	for _, f := range sources {
		b, err := wire.Source.ReadFile(f.Name())
		if err != nil {
			return nil, err
		}
		text[wirePackage+"/"+f.Name()] = string(b)
	}
	return text, nil
}

// overlay writes the patched files below a cache folder, unless they are there, and returns the file for
// "go build -overlay", and what tells this library from others.
func (t Toolchain) overlay(cache string) (path, key string, err error) {
	text, err := t.files()
	if err != nil {
		return "", "", err
	}
	list, err := json.Marshal(text) // sorted by name
	if err != nil {
		return "", "", err
	}
	sum := sha256.Sum256(list)
	key = t.Version + "-" + t.Arch + "-" + hex.EncodeToString(sum[:6])
	dir := filepath.Join(cache, "std", key)
	path = filepath.Join(dir, "overlay.json")
	if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), t.Root+"/src/") {
		return path, key, nil
	}
	replace := map[string]string{}
	for name, s := range text {
		file := filepath.Join(dir, strings.ReplaceAll(name, "/", "__"))
		if err := whole.Write(file, []byte(s)); err != nil {
			return "", "", err
		}
		replace[filepath.Join(t.Root, "src", name)] = file
	}
	b, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return "", "", err
	}
	return path, key, whole.Write(path, b)
}
