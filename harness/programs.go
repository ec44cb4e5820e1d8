package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"recount/docker/recipes"
	"recount/election"
	"recount/harness/record"
	"recount/internal/child"
	"recount/internal/gobuild"
	"recount/internal/hint"
	"recount/internal/keyed"
	"recount/virtual/overlay"
)

// programs are the executables that this process has built, or found built, for virtual time. A build takes minutes: each is made once
// at a time, and nobody waits for another's.
var programs struct {
	building keyed.Locks[election.Image]
	built    sync.Map // paths by election.Image
}

// virtualProgram builds what an image runs, to run in virtual time, unless that was done before.
func virtualProgram(ctx context.Context, image election.Image, progress func(string)) (string, error) {
	return builtOnce(ctx, image, func() (string, error) { return buildVirtual(ctx, image, progress) })
}

// builtOnce returns what build has made for an image. Who waits for it to be built builds it himself where the other gives up.
func builtOnce(ctx context.Context, image election.Image, build func() (string, error)) (string, error) {
	unlock, err := programs.building.Lock(ctx, image)
	if err != nil {
		return "", err
	}
	defer unlock()
	if path, ok := programs.built.Load(image); ok {
		return path.(string), nil
	}
	path, err := build()
	if err != nil {
		return "", err
	}
	programs.built.Store(image, path)
	return path, nil
}

// Program is an executable that was built to run in virtual time.
type Program struct {
	Image election.Image `json:"image"` // that it stands for
	Path  string         `json:"-"`
}

// Programs builds what the nodes of a plan run in virtual time, unless that was done before, and returns each once. progress is told how
// far it is; nil is for who hears of it in ctx, see Building.
func Programs(ctx context.Context, p record.Plan, progress func(string)) (all []Program, err error) {
	progress = Config{Progress: progress}.heard(ctx).building
	s, system, err := systemOf(p)
	if err != nil {
		return nil, err
	}
	_, err = s.images(system, func(i election.Image) (string, error) {
		path, err := virtualProgram(ctx, i, progress)
		all = append(all, Program{i, path})
		return path, err
	})
	return all, err
}

// systemOf is what the nodes of a plan are, which is of a real system.
func systemOf(p record.Plan) (*subject, election.System, error) {
	s, err := resolve(p)
	if err != nil {
		return nil, nil, Usage(err)
	}
	system, err := s.target.System(s.options)
	return s, system, Usage(err)
}

// UseProgram has this process run an executable that Programs has built elsewhere.
func UseProgram(p Program) {
	programs.built.Store(p.Image, p.Path)
}

func buildVirtual(ctx context.Context, image election.Image, progress func(string)) (string, error) {
	if image.Package != "" {
		return overlay.Build(ctx, overlay.Program{Dir: image.Package, Package: ".", Tags: image.Tags, Cover: image.Cover}, progress)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", hint.Add(err, "set HOME, or XDG_CACHE_HOME")
	}
	each, end := condensed(fmt.Sprintf("fetching the source of %s %s", image.Recipe, image.Version), progress)
	dir, pkg, err := recipes.Source(ctx, image, filepath.Join(cache, "recount", "virtual", "sources"), each)
	if end(); err != nil {
		return "", err
	}
	return overlay.Build(ctx, overlay.Program{Dir: dir, Fixed: true, Package: pkg}, progress)
}

// hashed are executables, each once, by hashes of them.
func hashed(paths map[string]string) (all []string, err error) {
	for _, path := range slices.Compact(slices.Sorted(maps.Values(paths))) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		hash := sha256.New()
		_, err = io.Copy(hash, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		all = append(all, fmt.Sprintf("executable:%.8x", hash.Sum(nil)))
	}
	return all, nil
}

// runsVirtual tells why what an image runs cannot run in virtual time, if it cannot.
func runsVirtual(image election.Image) error {
	switch {
	case image.Package != "":
		return nil
	case image.Recipe == "":
		return notSource
	}
	if err := recipes.BuiltFromGo(image); err != nil {
		return hint.Add(fmt.Errorf("%w: in virtual time run servers that are all Go, built from source", err),
			"add %v, or name another %v", hint.Set("on", record.OnDocker), hint.Set("opt", "version"))
	}
	return nil
}

// notSource is why an image that somebody else has made does not run in virtual time.
var notSource = hint.Add(
	errors.New("an image, or a binary that is built already, does not run in virtual time: Recount has to build it, with a standard library of its own"),
	"say in the target's file what it is built from, \"binary: {package: ./cmd/server}\"; or add %v", hint.Set("on", record.OnDocker))

// buildStatic builds the package main in a folder, with build tags, as a static executable for containers, and returns its path.
func buildStatic(ctx context.Context, folder, tags string, progress func(string)) (string, error) {
	dir, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", hint.Add(err, "set HOME, or XDG_CACHE_HOME")
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", []string{dir, tags}))
	path := filepath.Join(cache, "recount", "packages", hex.EncodeToString(sum[:6]), filepath.Base(dir))
	if folder == "." {
		folder = dir
	}
	progress("building " + folder)
	err = gobuild.Run(ctx, child.Program{
		Name: "go", Args: []string{"build", "-v", "-trimpath", "-buildvcs=false", "-tags=" + tags, "-o", path, "."}, Dir: dir,
		Env: append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOFLAGS="),
	}, "building "+folder, progress)
	switch {
	case err == nil:
		return path, nil
	case ctx.Err() == nil && hint.Of(err) == "":
		err = hint.Add(err, "does \"CGO_ENABLED=0 go build\" work in that folder?")
	}
	return "", fmt.Errorf("build %s: %w", folder, err)
}
