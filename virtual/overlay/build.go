package overlay

import (
	"cmp"
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
	// Dir is a folder in a module: Package is found from there. With Module instead, it is found in that published
	// module, whose replace directives do not count.
	Dir     string
	Module  string // "github.com/nats-io/nats-server/v2"
	Version string // "v2.10.20"

	Fixed   bool     // Dir is Recount's own and its source stays as it is, as a module's does: what was built of it is not looked at again
	Package string   // what to build: "./cmd/server", or an import path
	Tags    []string // build tags
	Arch    string   // "amd64", "arm64"; empty for this machine's
	Go      string   // the go command; empty for the one in PATH
	Cache   string   // where what is built is kept; empty for a folder in the user's cache
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
	if p.Package == "" || (p.Dir == "") == (p.Module == "") {
		return "", errors.New("a program is a package, in a folder or in a module")
	}
	if p.Cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return "", hint.Add(err, "set HOME, or XDG_CACHE_HOME")
		}
		p.Cache = filepath.Join(dir, "recount", "virtual")
	}
	p.Go = cmp.Or(p.Go, "go")
	if p.Module != "" {
		dir, err := p.require(ctx, progress)
		if err != nil {
			return "", err
		}
		p.Dir = dir
	}
	dir, err := filepath.Abs(p.Dir)
	if err != nil {
		return "", err
	}
	p.Dir = dir
	if p.Fixed || p.Module != "" { // it is of a cache, too
		if err := hold(p.Dir, false); err != nil {
			return "", err
		}
	}
	env := p.env()
	t, err := toolchain(ctx, p.Go, p.Dir, p.Cache, env)
	if err != nil {
		return "", err
	}
	if p.Go = t.Go; t.Moved {
		env = append(env, "GOROOT="+t.Root, "GOTOOLCHAIN=local")
	}
	path, key, err := t.overlay(p.Cache)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", []any{p.Dir, p.Package, p.Tags, key}))
	out := filepath.Join(p.Cache, "bin", hex.EncodeToString(sum[:8]), name(p.Dir, p.Package))
	complete := filepath.Join(filepath.Dir(out), "whole")
	if err := hold(filepath.Dir(out), true); err != nil {
		return "", err
	}
	if _, err := os.Stat(complete); err == nil && (p.Fixed || p.Module != "") {
		return out, nil
	}
	if err := p.isMain(ctx, env); err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(p.Cache, "std", key, "built")); err != nil {
		progress(fmt.Sprintf("building the standard library of %s for virtual time, once: about a minute", t.Version))
	}
	what := fmt.Sprintf("building %s for virtual time", cmp.Or(p.title(), name(p.Dir, p.Package)))
	progress(what)
	// The go command leaves alone what is up to date.
	args := []string{"build", "-v", "-overlay", path, "-trimpath", "-buildvcs=false", "-o", out}
	if len(p.Tags) > 0 {
		args = append(args, "-tags", strings.Join(p.Tags, ","))
	}
	if err := p.run(ctx, env, what, progress, append(args, p.Package)...); err != nil {
		if hint.Of(err) == "" {
			err = hint.Add(err, "does \"CGO_ENABLED=0 go build %s\" work in %s?", p.Package, p.Dir)
		}
		return "", fmt.Errorf("build %s: %w", cmp.Or(p.title(), p.Package), err)
	}
	return out, errors.Join(whole.Write(complete, nil), whole.Write(filepath.Join(p.Cache, "std", key, "built"), nil), prune(p.Cache, most))
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

func (p Program) title() string {
	if p.Module == "" {
		return ""
	}
	return p.Package + "@" + p.Version
}

// env is the environment of the go command: what a user has set for his own builds does not count.
func (p Program) env() []string {
	env := append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOFLAGS=-mod=mod", "GOWORK=off")
	if p.Module == "" {
		env[len(env)-2] = "GOFLAGS="
	}
	if p.Arch != "" {
		env = append(env, "GOARCH="+p.Arch)
	}
	return env
}

// run runs the go command, which does what is told; an error has what it said.
func (p Program) run(ctx context.Context, env []string, what string, progress func(string), args ...string) error {
	err := gobuild.Run(ctx, child.Program{Name: p.Go, Args: args, Dir: p.Dir, Env: env}, what, progress)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("go %s: %w", args[0], err)
	}
	return err
}

// isMain refuses packages that are no programs. What needs cgo fails to build, without it.
func (p Program) isMain(ctx context.Context, env []string) error {
	cmd := exec.CommandContext(ctx, p.Go, "list", "-find", "-f", "{{.Name}}", p.Package)
	cmd.Dir, cmd.Env = p.Dir, env
	out, err := cmd.Output()
	if err != nil {
		return hint.Add(fmt.Errorf("%s: %w%s", p.Package, err, stderrOf(err)), "a node is a package main of a Go module, as \"go build\" takes it, without cgo")
	}
	if name := strings.TrimSpace(string(out)); name != "main" {
		return hint.Add(fmt.Errorf("%s is package %s, not a program", p.Package, name), "name a package main")
	}
	return nil
}

// require makes a module that needs nothing but the program's, in the cache.
func (p Program) require(ctx context.Context, progress func(string)) (string, error) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", []string{p.Module, p.Version, p.Package}))
	dir := filepath.Join(p.Cache, "modules", hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(filepath.Join(dir, "whole")); err == nil {
		return dir, nil
	}
	progress("fetching " + p.title())
	if err := whole.Write(filepath.Join(dir, "go.mod"), []byte("module recount.node\n\ngo 1.25\n")); err != nil {
		return "", err
	}
	p.Dir = dir
	if err := p.run(ctx, p.env(), "fetching "+p.title(), progress, "get", p.Module+"@"+p.Version, p.Package+"@"+p.Version); err != nil {
		return "", hint.Add(fmt.Errorf("fetch %s: %w", p.title(), err), "is the module there in that version, and the Go module proxy reached?")
	}
	return dir, whole.Write(filepath.Join(dir, "whole"), nil)
}
