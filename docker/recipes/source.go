package recipes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"recount/election"
)

// BuiltFromGo tells why an image is not built from Go source, if it is not.
func BuiltFromGo(image election.Image) error {
	if _, err := goMain(image); err != nil {
		return fmt.Errorf("%s: %w", strings.TrimSpace(image.Recipe+" "+image.Version), err)
	}
	return nil
}

func goMain(image election.Image) (GoMain, error) {
	r, err := find(image)
	if err != nil {
		return GoMain{}, err
	}
	g, ok := r.(GoMain)
	if !ok {
		err = errors.New("it is made of packages of Debian, not from Go source")
	}
	return g, err
}

// Source puts a module whose package pkg is what an image of the name runs below a folder, and returns its folder, which
// stays as it is from then on. It fails for images that hold no Go program that is built from source.
func Source(ctx context.Context, image election.Image, below string, progress func(line string)) (dir, pkg string, err error) {
	dir, pkg, err = source(ctx, image, below, progress)
	if err != nil {
		return "", "", fmt.Errorf("source of %s %s: %w", image.Recipe, image.Version, err)
	}
	return dir, pkg, nil
}

func source(ctx context.Context, image election.Image, below string, progress func(line string)) (dir, pkg string, err error) {
	g, err := goMain(image)
	if err != nil {
		return "", "", err
	}
	if err := need("go", noGo); err != nil {
		return "", "", err
	}
	dir = filepath.Join(below, fmt.Sprintf("%s-%s-%.12s", word(image.Recipe), word(image.Version), key(image)))
	if pkg = g.Pkg; g.Main != "" {
		pkg = "."
	}
	if _, err := os.Stat(dir); err == nil {
		return dir, pkg, nil
	}
	if err := os.MkdirAll(below, 0o755); err != nil {
		return "", "", err
	}
	tmp, err := os.MkdirTemp(below, ".new-")
	if err != nil {
		return "", "", err
	}
	defer os.RemoveAll(tmp)
	if _, err := g.write(tmp); err != nil {
		return "", "", err
	}
	if g.Sum == "" { // the toolchain resolves what is left open
		if progress == nil {
			progress = func(string) {}
		}
		env := []string{"CGO_ENABLED=0", "GO111MODULE=on", "GOWORK=off", "GOFLAGS=-mod=mod"}
		if err := (builder{tmp, progress}).run(ctx, tmp, env, "go", "list", "-deps", "-f", "{{with .Module}}{{end}}", pkg); err != nil {
			return "", "", err
		}
	}
	if err := os.Rename(tmp, dir); err != nil && !os.IsExist(err) {
		if _, there := os.Stat(dir); there != nil { // else somebody else was faster
			return "", "", err
		}
	}
	return dir, pkg, nil
}
