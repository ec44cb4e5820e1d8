package docker

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"

	"recount/internal/hint"
)

// Image is an image that Recount made, and that the engine keeps.
type Image struct {
	Ref    string // "recount/etcd:3.6.16-1f0c…"
	System string // the real system that is in it: "etcd"; "" where there is none, or nobody knows
	Origin string // how it was made, as whoever imported it labelled it; or what it is of: OfSelf, …
	Size   int64  // in bytes
	Made   time.Time
}

// labelOrigin tells how an image came about: the key of its recipe, or where it was pulled from.
const labelOrigin = "recount.recipe"

// What images are of that come about without a recipe.
const (
	OfSelf       = "self"       // Recount's own executable
	OfBinary     = "binary"     // an executable of somebody's
	OfDockerfile = "dockerfile" // what a Dockerfile says
)

// Images lists the images that Recount made, by name.
func (e *Engine) Images(ctx context.Context) ([]Image, error) {
	all, err := e.api.ImageList(ctx, image.ListOptions{Filters: filters.NewArgs(filters.Arg("label", labelImage))})
	if err != nil {
		return nil, fmt.Errorf("list images: %w", err)
	}
	var found []Image
	for _, i := range all {
		for _, ref := range refsOf(i) {
			one := Image{Ref: ref, System: i.Labels[labelImage], Origin: i.Labels[labelOrigin], Size: i.Size, Made: time.Unix(i.Created, 0)}
			if one.Origin == "" {
				one.System, one.Origin = "", one.System
			}
			found = append(found, one)
		}
	}
	slices.SortFunc(found, func(a, b Image) int { return cmp.Compare(a.Ref, b.Ref) })
	return found, nil
}

// refsOf are the names that Recount gave an image, before which Podman names a registry. Labels alone tell nothing: what somebody builds
// on an image inherits them, and other names of it are somebody's own.
func refsOf(i image.Summary) (refs []string) {
	for _, ref := range i.RepoTags {
		if ref = strings.TrimPrefix(ref, "docker.io/"); strings.HasPrefix(ref, "recount/") {
			refs = append(refs, ref)
		}
	}
	return refs
}

// HasImage reports whether the engine has an image of that name.
func (e *Engine) HasImage(ctx context.Context, ref string) (bool, error) {
	_, err := e.api.ImageInspect(ctx, ref)
	if cerrdefs.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for image %s: %w", ref, err)
	}
	return true, nil
}

// Identity is an image's name with the hash of what it is now.
func (e *Engine) Identity(ctx context.Context, ref string) (string, error) {
	is, err := e.api.ImageInspect(ctx, ref)
	if err != nil {
		return "", fmt.Errorf("look for image %s: %w", ref, err)
	}
	return ref + "@" + is.ID, nil
}

// ImportSystem makes the image of a real system out of its root filesystem. Neither system nor origin has blanks in it.
func (e *Engine) ImportSystem(ctx context.Context, ref string, root io.Reader, system, origin string) error {
	return e.importImage(ctx, ref, root, "LABEL "+labelImage+"="+system, "LABEL "+labelOrigin+"="+origin)
}

// importImage makes an image out of a root filesystem, in the place of one that had its name. Changes are instructions of a
// Dockerfile: "LABEL key=value".
func (e *Engine) importImage(ctx context.Context, ref string, root io.Reader, changes ...string) error {
	had, _ := e.api.ImageInspect(ctx, ref)
	answer, err := e.api.ImageImport(ctx, image.ImportSource{Source: root, SourceName: "-"}, ref, image.ImportOptions{Changes: changes})
	if err == nil {
		err = messages(answer, func(string) {})
	}
	if err != nil {
		return fmt.Errorf("import image %s: %w", ref, err)
	}
	// The engine itself refuses to remove what something uses, and then nobody knows it for ours any more.
	if is, err := e.api.ImageInspect(ctx, had.ID); err == nil && len(is.RepoTags) == 0 {
		_, _ = e.api.ImageRemove(ctx, had.ID, image.RemoveOptions{})
	}
	return nil
}

// RemoveImage removes an image. One that a container uses stays, with an error that says so.
func (e *Engine) RemoveImage(ctx context.Context, ref string) error {
	_, err := e.api.ImageRemove(ctx, ref, image.RemoveOptions{})
	if cerrdefs.IsConflict(err) {
		return hint.Add(fmt.Errorf("remove image %s: %w", ref, err),
			"wait until the run that uses it is over; recount clean removes what dead runs left")
	}
	if err != nil {
		return fmt.Errorf("remove image %s: %w", ref, err)
	}
	return nil
}

// Pull gets an image from the registry in its name, and tells how far it is.
func (e *Engine) Pull(ctx context.Context, ref string, progress func(line string)) error {
	answer, err := e.api.ImagePull(ctx, ref, image.PullOptions{})
	if err == nil {
		err = messages(answer, progress)
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return hint.Add(fmt.Errorf("pull %s: %w", ref, err),
			"the engine must reach that registry; without one, images are built where there is a recipe")
	}
	return nil
}
