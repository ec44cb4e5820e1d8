// Package recipes makes the root filesystems of real systems' images on this machine, with what it has already: a Go
// toolchain and the Go module proxy, or Debian's package tools. No image registry is needed.
package recipes

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	"recount/election"
	"recount/internal/hint"
)

// Ref is the name under which the image is kept: "recount/etcd:3.6.16-1f0c…". The end is a hash of all that decides
// what Build makes, so an image of that name need not be built again. It names images that no recipe makes as well:
// Build says what is wrong with those.
func Ref(image election.Image) string {
	if image.Debian != "" {
		return fmt.Sprintf("recount/debian:%.12s", key(image))
	}
	return fmt.Sprintf("recount/%s:%s-%.12s", word(image.Recipe), word(image.Version), key(image))
}

// Build makes the image's root filesystem and returns it as a tar stream, with the hash that Ref ends in, in full, to
// label the image with. Lines that tell how far it is go to progress, one at a time; they are for people. It may be nil.
//
// It works in a temporary folder that is gone when it returns, also after an error or when ctx ends.
func Build(ctx context.Context, image election.Image, progress func(line string)) (io.ReadCloser, string, error) {
	tar, err := build(ctx, image, progress)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", strings.TrimSpace(image.Recipe+" "+cmp.Or(image.Version, "an image of "+image.Debian)), err)
	}
	return tar, key(image), nil
}

func build(ctx context.Context, image election.Image, progress func(line string)) (tar *os.File, err error) {
	r, err := find(image)
	if err != nil {
		return nil, err
	}
	if progress == nil {
		progress = func(string) {}
	}
	dir, err := os.MkdirTemp("", "recount-recipe-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	root, err := r.make(ctx, builder{dir, progress})
	if err != nil {
		return nil, err
	}
	return pack(root, dir)
}

// System is a real system whose images are made here.
type System struct {
	Name string // as election.Image has it: "etcd"
	// Versions says, for people, of which versions there are recipes: "known: …" goes before it.
	Versions string
	// Recipe returns how a version is made; nil if it cannot be. It is the one place where that is decided.
	Recipe func(version string) Recipe
	// Published is the image of a version that the system's makers publish, the zero Upstream if there is none; nil if they
	// publish none of any version that would do.
	Published func(version string) Upstream
}

// Recipe is how one version of one system is made: a GoMain or a Debian.
type Recipe interface {
	// content is all that decides what make makes, but for the tools of this machine.
	content() []string
	// make returns the folder, within the builder's, that is to be the root of the image.
	make(ctx context.Context, b builder) (root string, err error)
}

var systems = map[string]System{}

// Register adds a system; a name registered twice is a programming error.
func Register(s System) {
	if _, twice := systems[s.Name]; twice {
		panic("recipes: registered twice: " + s.Name)
	}
	systems[s.Name] = s
}

// Known returns the names of all systems, sorted.
func Known() []string { return slices.Sorted(maps.Keys(systems)) }

// Check tells whether the image can be had, made or pulled: the error says of which versions it could be made.
func Check(image election.Image) error {
	_, err := find(image)
	if _, none := Published(image); err != nil && none == nil {
		return nil
	}
	return err
}

func find(image election.Image) (Recipe, error) {
	if image.Debian != "" {
		return Debian{
			Packages: strings.Fields(image.Debian), Whole: true,
			Drop:  []string{"usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/lintian", "usr/share/info"},
			Lacks: "images of Debian packages need apt-get and dpkg-deb; dockerfile says the same for other machines",
		}, nil
	}
	s, ok := systems[image.Recipe]
	if !ok {
		return nil, hint.Unknown("recipe", image.Recipe, Known())
	}
	r := s.Recipe(image.Version)
	if r == nil {
		return nil, hint.Add(fmt.Errorf("%q is no version of %s that Recount runs", image.Version, s.Name), "known: %s", s.Versions)
	}
	return r, nil
}

// key is the hash of what decides what is built. Images are for the architecture of this machine.
func key(image election.Image) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q", image.Recipe, image.Version, runtime.GOARCH)
	if r, err := find(image); err == nil {
		fmt.Fprintf(h, " %q", r.content())
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// word keeps what may stand in the name of an image.
func word(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return -1
	}, s)
}
