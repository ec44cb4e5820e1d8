package docker

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"

	"recount/hint"
)

// Image is an image of a real system that the engine keeps.
type Image struct {
	Ref    string // "recount/etcd:3.6.16-1f0c…"
	System string // what is in it: "etcd"
	Origin string // how it was made, as whoever imported it labelled it
	Size   int64  // in bytes
	Made   time.Time
}

// labelOrigin tells how an image came about: the key of its recipe, or where it was pulled from.
const labelOrigin = "recount.recipe"

// Images lists the images of real systems, by name.
func (e *Engine) Images(ctx context.Context) ([]Image, error) {
	all, err := e.api.ImageList(ctx, image.ListOptions{Filters: filters.NewArgs(filters.Arg("label", labelOrigin))})
	if err != nil {
		return nil, fmt.Errorf("docker: list images: %w", err)
	}
	var found []Image
	for _, i := range all {
		for _, ref := range i.RepoTags {
			found = append(found, Image{
				Ref: ref, System: i.Labels[labelImage], Origin: i.Labels[labelOrigin], Size: i.Size, Made: time.Unix(i.Created, 0),
			})
		}
	}
	slices.SortFunc(found, func(a, b Image) int { return cmp.Compare(a.Ref, b.Ref) })
	return found, nil
}

// ImportSystem makes the image of a real system out of its root filesystem. Neither system nor origin has blanks in it.
func (e *Engine) ImportSystem(ctx context.Context, ref string, root io.Reader, system, origin string) error {
	return e.ImportImage(ctx, ref, root, labelImage+"="+system, labelOrigin+"="+origin)
}

// RemoveImage removes an image. One that a container uses stays, with an error that says so.
func (e *Engine) RemoveImage(ctx context.Context, ref string) error {
	_, err := e.api.ImageRemove(ctx, ref, image.RemoveOptions{})
	if cerrdefs.IsConflict(err) {
		return hint.Add(fmt.Errorf("docker: remove image %s: %w", ref, err), "wait until the run that uses it is over; recount clean removes what dead runs left")
	}
	if err != nil {
		return fmt.Errorf("docker: remove image %s: %w", ref, err)
	}
	return nil
}

// Pull gets an image from the registry in its name, and tells how far it is.
func (e *Engine) Pull(ctx context.Context, ref string, progress func(line string)) error {
	answer, err := e.api.ImagePull(ctx, ref, image.PullOptions{})
	if err == nil {
		err = follow(answer, progress)
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return hint.Add(fmt.Errorf("docker: pull %s: %w", ref, err), "the engine must reach that registry; without one, images are built where there is a recipe")
	}
	return nil
}

// follow reads a pull's stream of messages to its end.
func follow(answer io.ReadCloser, progress func(line string)) error {
	defer answer.Close()
	for d := json.NewDecoder(answer); ; {
		var m struct {
			ID, Status, Error string
			Detail            struct{ Current, Total int64 } `json:"progressDetail"`
		}
		switch err := d.Decode(&m); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case m.Error != "":
			return errors.New(m.Error)
		}
		line := strings.TrimSpace(m.ID + " " + m.Status)
		if m.Detail.Total > 0 {
			line += fmt.Sprintf(", %d of %d MB", m.Detail.Current>>20, m.Detail.Total>>20)
		}
		progress(line)
	}
}

// Extract takes files out of an image, as a tar archive in which they have the paths that files gives to theirs.
func (e *Engine) Extract(ctx context.Context, ref string, files map[string]string) (_ io.Reader, err error) {
	// The container is never started. Its label lets clean find it if this process dies before it is removed.
	config := container.Config{Image: ref, Cmd: []string{"none"}, Labels: map[string]string{labelRun: "extract", labelOwner: ownLabel()}}
	made, err := e.api.ContainerCreate(ctx, &config, nil, nil, nil, "")
	if err != nil {
		return nil, fmt.Errorf("docker: extract from %s: %w", ref, err)
	}
	defer func() {
		remove := e.api.ContainerRemove(context.WithoutCancel(ctx), made.ID, container.RemoveOptions{Force: true})
		if remove != nil {
			err = errors.Join(err, fmt.Errorf("docker: extract from %s: %w", ref, remove))
		}
	}()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for from, to := range files {
		if err := e.extract(ctx, w, made.ID, from, to); err != nil {
			return nil, fmt.Errorf("docker: extract %s from %s: %w", from, ref, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("docker: extract from %s: %w", ref, err)
	}
	return &out, nil
}

func (e *Engine) extract(ctx context.Context, w *tar.Writer, id, from, to string) error {
	archive, _, err := e.api.CopyFromContainer(ctx, id, from)
	if err != nil {
		return err
	}
	defer archive.Close()
	r := tar.NewReader(archive)
	h, err := r.Next()
	if err != nil {
		return err
	}
	if h.Typeflag != tar.TypeReg {
		return errors.New("it is no file")
	}
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: to, Mode: 0o755, Size: h.Size}); err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return err
}
