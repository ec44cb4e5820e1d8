package harness

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"recount/docker"
	"recount/docker/recipes"
	"recount/election"
	"recount/harness/record"
	"recount/internal/hint"
)

// systemImage returns the name of a real system's image. If the engine does not have it, it is built by its recipe, and
// where that cannot be, pulled. One without a recipe is pulled or made in its own way.
func systemImage(ctx context.Context, e *docker.Engine, image election.Image, progress func(string)) (string, error) {
	switch {
	case image.Ref != "":
		return image.Ref, e.Obtain(ctx, image.Ref, progress)
	case image.Dockerfile != "":
		return e.BuildImage(ctx, image.Dockerfile, record.IsResults, progress)
	case image.Package != "":
		path, err := buildStatic(ctx, image.Package, image.Tags, progress)
		if err != nil {
			return "", err
		}
		return e.BinaryImage(ctx, path, progress)
	case image.Binary != "":
		return e.BinaryImage(ctx, image.Binary, progress)
	}
	ref := recipes.Ref(image)
	has, err := e.HasImage(ctx, ref)
	if err != nil || has {
		return ref, err
	}
	what := fmt.Sprintf("building %s %s", image.Recipe, image.Version)
	if image.Debian != "" {
		what = "making an image of Debian's " + image.Debian
	}
	progress(what + "; this happens once")
	each, end := condensed(what, progress)
	built := BuildImage(ctx, e, image, each)
	end()
	if built == nil || ctx.Err() != nil {
		return ref, built
	}
	if _, err := recipes.Published(image); err != nil {
		return "", built
	}
	progress(fmt.Sprintf("%v; trying to pull it", built))
	if pulled := PullImage(ctx, e, image, progress); pulled != nil {
		return "", hint.Or(errors.Join(built, pulled), built, "")
	}
	return ref, nil
}

// identified returns the name of a real system's image, and what it is now: what Recount has made has a hash in its name.
func identified(ctx context.Context, e *docker.Engine, image election.Image, progress func(string)) (ref, what string, err error) {
	ref, err = systemImage(ctx, e, image, progress)
	if what = ref; err == nil && image.Ref != "" {
		what, err = e.Identity(ctx, ref)
	}
	return ref, what, err
}

// imageOf is what a node runs.
func imageOf(system election.System, m election.Member) election.Image {
	if m.Server {
		return system.(election.Service).ServerImage(m)
	}
	return system.Image()
}

// images come by what each node runs, by its name; each image once.
func (s *subject) images(system election.System, obtain func(election.Image) (string, error)) (map[string]string, error) {
	all, had := map[string]string{}, map[election.Image]string{}
	for _, m := range s.members(func(string) netip.Addr { return netip.Addr{} }) {
		image := imageOf(system, m)
		if _, has := had[image]; !has {
			obtained, err := obtain(image)
			if err != nil {
				return nil, err
			}
			had[image] = obtained
		}
		all[m.Name] = had[image]
	}
	return all, nil
}

// members are the nodes, in the order of their ids.
func (s *subject) members(addr func(node string) netip.Addr) (all []election.Member) {
	for i, name := range s.names {
		all = append(all, election.Member{ID: election.ID(i + 1), Name: name, Server: slices.Contains(s.servers, name), Addr: addr(name)})
	}
	return all
}

// BuildImage builds a real system's image by its recipe, though the engine may have it.
func BuildImage(ctx context.Context, e *docker.Engine, image election.Image, progress func(string)) error {
	root, key, err := recipes.Build(ctx, image, progress)
	if err != nil {
		return err
	}
	defer root.Close()
	progress("handing the engine image " + recipes.Ref(image))
	return e.ImportSystem(ctx, recipes.Ref(image), root, image.Recipe, key)
}

// Pulled begins the origin of an image that was pulled; the rest names it where it was pulled from.
const Pulled = "pulled:"

// PullImage makes a real system's image of the one that its makers publish: the same layout, their program.
func PullImage(ctx context.Context, e *docker.Engine, image election.Image, progress func(string)) error {
	up, err := recipes.Published(image)
	if err != nil {
		return err
	}
	if err := e.Pull(ctx, up.Ref, progress); err != nil {
		return err
	}
	root, err := e.Extract(ctx, up.Ref, up.Files)
	if err != nil {
		return err
	}
	return e.ImportSystem(ctx, recipes.Ref(image), root, image.Recipe, Pulled+up.Ref)
}
