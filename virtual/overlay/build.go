package overlay

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"recount/internal/child"
	"recount/internal/gobuild"
	"recount/internal/hint"
	"recount/internal/whole"
)

// Program says what to build.
type Program struct {
	Dir     string // in a module: Package is found from there
	Fixed   bool   // Dir is Recount's own and its source stays as it is: what was built of it is not looked at again
	Package string // what to build: "./cmd/server", or an import path
	Tags    string // build tags, with commas between
	Cover   string // patterns of packages whose statements are counted as they run, with commas between
}

// Build builds a program and returns the path of its executable, which is kept, and built again only if its source, the
// Go release or the patches are others. Of programs and sources 4 GB are
// kept, and always what a process uses. Lines that tell how far it is go to progress, one at a time; it may be nil.
//
// The first build with a Go release compiles its standard library: about 40 seconds of CPU.
func Build(ctx context.Context, p Program, progress func(line string)) (string, error) {
	if progress == nil {
		progress = func(string) {}
	}
	if p.Package == "" || p.Dir == "" {
		return "", errors.New("a program is a package in a folder")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", hint.Add(err, "set HOME, or XDG_CACHE_HOME")
	}
	cache = filepath.Join(cache, "recount", "virtual")
	if p.Dir, err = filepath.Abs(p.Dir); err != nil {
		return "", err
	}
	// What a user has set for his own builds does not count. The workspace that his folder is in does: it says of what his server is made.
	env := append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOFLAGS=")
	if p.Fixed { // it is of a cache, too, and of no workspace
		if err := hold(p.Dir, false); err != nil {
			return "", err
		}
		env = append(env, "GOWORK=off")
	}
	t, err := toolchain(ctx, "go", p.Dir, cache, env, progress)
	if err != nil {
		return "", err
	}
	if t.Moved {
		env = append(env, "GOROOT="+t.Root, "GOTOOLCHAIN=local")
	}
	path, key, err := t.overlay(cache)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", []string{p.Dir, p.Package, key, p.Tags, p.Cover}))
	out := filepath.Join(cache, "bin", hex.EncodeToString(sum[:8]), name(p.Dir, p.Package))
	complete := filepath.Join(filepath.Dir(out), "whole")
	if err := hold(filepath.Dir(out), true); err != nil {
		return "", err
	}
	if _, err := os.Stat(complete); err == nil && p.Fixed {
		return out, nil
	}
	if err := p.isMain(ctx, t.Go, env, progress); err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(cache, "std", key, "built")); err != nil {
		progress(fmt.Sprintf("building the standard library of %s for virtual time, once: about a minute", t.Version))
	}
	what := fmt.Sprintf("building %s for virtual time", name(p.Dir, p.Package))
	progress(what)
	// The go command leaves alone what is up to date.
	args := []string{"build", "-v", "-overlay", path, "-trimpath", "-buildvcs=false", "-tags=" + p.Tags, "-o", out}
	if p.Cover != "" {
		args = append(args, "-cover", "-covermode=set", "-coverpkg="+p.Cover)
	}
	args = append(args, p.Package)
	err = gobuild.Run(ctx, child.Program{Name: t.Go, Args: args, Dir: p.Dir, Env: env}, what, progress)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("go build: %w", err)
	}
	if err != nil {
		if hint.Of(err) == "" {
			err = hint.Add(err, "does \"CGO_ENABLED=0 go build %s\" work in %s?", p.Package, p.Dir)
		}
		return "", fmt.Errorf("build %s: %w", p.title(), err)
	}
	return out, errors.Join(whole.Write(complete, nil), whole.Write(filepath.Join(cache, "std", key, "built"), nil), prune(cache, most))
}

// title is what the package goes by in messages: its folder, where it is called by that.
func (p Program) title() string {
	if p.Package == "." {
		return p.Dir
	}
	return p.Package
}

// name is that of a package's executable.
func name(dir, pkg string) string {
	if pkg = filepath.Clean(pkg); pkg == "." {
		pkg = dir
	}
	if major.MatchString(filepath.Base(pkg)) {
		pkg = filepath.Dir(pkg)
	}
	return filepath.Base(pkg)
}

var major = regexp.MustCompile(`^v[0-9]+$`)

// isMain refuses packages that are no programs. What needs cgo fails to build, without it.
func (p Program) isMain(ctx context.Context, goCmd string, env []string, progress func(string)) error {
	defer gobuild.Tell("finding package "+p.title(), nil, progress)() // which may lie in a module that is to be fetched
	cmd := exec.CommandContext(ctx, goCmd, "list", "-find", "-tags="+p.Tags, "-f", "{{.Name}}", p.Package)
	cmd.Dir, cmd.Env = p.Dir, env
	out, err := cmd.Output()
	if err != nil {
		return hint.Add(fmt.Errorf("%s: %w%s", p.title(), err, stderrOf(err)), "a node is a package main of a Go module, as \"go build\" takes it, without cgo")
	}
	if name := strings.TrimSpace(string(out)); name != "main" {
		return hint.Add(fmt.Errorf("%s is package %s, not a program", p.title(), name), "name a package main")
	}
	return nil
}
