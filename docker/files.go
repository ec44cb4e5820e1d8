package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
)

// writeFiles writes files into a container that has not been started yet.
func (e *Engine) writeFiles(ctx context.Context, id string, files map[string]string) error {
	if len(files) == 0 {
		return nil
	}
	archive, err := packFiles(files, func(folder string) (bool, error) {
		_, err := e.api.ContainerStatPath(ctx, id, folder)
		if cerrdefs.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	if err == nil {
		err = e.api.CopyToContainer(ctx, id, "/", archive, container.CopyToContainerOptions{})
	}
	if err != nil {
		return fmt.Errorf("write files: %w", err)
	}
	return nil
}

// packFiles is a tar archive of files, and of the folders that they are in. One that is there already is left out: it keeps
// its owner and its mode, as those of /tmp, and may be a link to another, as /var/run is.
func packFiles(files map[string]string, there func(folder string) (bool, error)) (*bytes.Buffer, error) {
	b := new(bytes.Buffer)
	t := tar.NewWriter(b)
	made := map[string]bool{"/": true}
	var folder func(dir string) error
	folder = func(dir string) error {
		if made[dir] {
			return nil
		}
		made[dir] = true
		if err := folder(path.Dir(dir)); err != nil {
			return err
		}
		if is, err := there(dir); is || err != nil {
			return err
		}
		return t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: strings.TrimPrefix(dir, "/") + "/", Mode: 0o755})
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := folder(path.Dir(name)); err != nil {
			return nil, err
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: strings.TrimPrefix(name, "/"), Mode: 0o644, Size: int64(len(files[name]))}
		if strings.HasPrefix(files[name], "#!") { // a script, which a server may have to run
			h.Mode = 0o755
		}
		if err := t.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := t.Write([]byte(files[name])); err != nil {
			return nil, err
		}
	}
	return b, t.Close()
}
