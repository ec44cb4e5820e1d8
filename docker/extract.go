package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
)

// Extract takes files out of an image, as a tar archive in which they have the paths that files gives to theirs, in the order of
// those in the image.
func (e *Engine) Extract(ctx context.Context, ref string, files map[string]string) (_ io.Reader, err error) {
	// The container is never started. Its label lets clean find it if this process dies before it is removed.
	config := container.Config{Image: ref, Cmd: []string{"none"}, Labels: map[string]string{labelRun: runExtract, labelOwner: ownLabel()}}
	during, cancel := e.outlast(ctx)
	defer cancel()
	made, err := e.api.ContainerCreate(during, &config, nil, nil, nil, "")
	if err != nil {
		return nil, hung(during, fmt.Errorf("extract from %s: %w", ref, err))
	}
	defer func() {
		during, cancel := e.outlast(ctx) // however long it took to be made
		defer cancel()
		remove := e.remove(during, made.ID, "")
		if remove != nil {
			err = errors.Join(err, hung(during, fmt.Errorf("extract from %s: %w", ref, remove)))
		}
	}()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, from := range slices.Sorted(maps.Keys(files)) {
		if err := e.extract(ctx, w, made.ID, from, files[from]); err != nil {
			return nil, fmt.Errorf("extract %s from %s: %w", from, ref, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("extract from %s: %w", ref, err)
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

// copyFile writes what a file of a container has, running or not. It is no error if there is no file.
func (e *Engine) copyFile(ctx context.Context, to io.Writer, id, path string) error {
	archive, _, err := e.api.CopyFromContainer(ctx, id, path)
	if cerrdefs.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer archive.Close()
	r := tar.NewReader(archive)
	h, err := r.Next()
	if err == nil && h.Typeflag == tar.TypeReg {
		_, err = io.Copy(to, r)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}
