package docker

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/docker/docker/api/types/build"

	"recount/internal/hint"
)

// Images of somebody's own: pulled, built by a Dockerfile, or made of one executable.

// Obtain sees to it that the engine has an image of that name, which is pulled if it is not there.
func (e *Engine) Obtain(ctx context.Context, ref string, progress func(string)) error {
	has, err := e.HasImage(ctx, ref)
	if err != nil || has {
		return err
	}
	progress("pulling " + ref)
	if err := e.Pull(ctx, ref, progress); err != nil {
		return hint.Add(err, "docker build or docker load it by hand, or describe it by its dockerfile or its binary")
	}
	return nil
}

// BuildImage builds the image of a Dockerfile, whose folder is the context, without what is to be left out by its path, and returns
// its name. The engine keeps it: of the same files it is not built again.
func (e *Engine) BuildImage(ctx context.Context, dockerfile string, leaveOut func(path string) bool, progress func(string)) (ref string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("build %s: %w", dockerfile, err)
		}
	}()
	if _, err := os.Stat(dockerfile); err != nil {
		return "", err
	}
	f, err := os.CreateTemp("", "recount-context-")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	hash, err := packContext(f, dockerfile, leaveOut)
	if err != nil {
		return "", err
	}
	ref = fmt.Sprintf("recount/%s:%.8x", OfDockerfile, sha256.Sum256(append(hash, filepath.Base(dockerfile)...)))
	has, err := e.HasImage(ctx, ref)
	if err != nil || has {
		return ref, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	progress("building " + dockerfile)
	answer, err := e.api.ImageBuild(ctx, f, build.ImageBuildOptions{
		Dockerfile: filepath.Base(dockerfile), Tags: []string{ref}, Remove: true, ForceRemove: true,
		Labels: map[string]string{labelImage: OfDockerfile},
	})
	if err != nil {
		return "", err
	}
	return ref, messages(answer.Body, progress)
}

// BinaryImage makes an image that holds nothing but a static Linux executable, which it runs, and returns its name.
func (e *Engine) BinaryImage(ctx context.Context, path string, progress func(string)) (ref string, err error) {
	_, err = os.Stat(path)
	if err != nil {
		err = hint.Add(err, "build it: CGO_ENABLED=0 GOOS=linux GOARCH=%s go build -o %s PACKAGE", e.version.Arch, path)
	} else if err = CheckExecutable(path, e.version.Arch); err != nil {
		err = hint.Add(err, "build it static and for Linux: CGO_ENABLED=0 GOOS=linux GOARCH=%s go build", e.version.Arch)
	}
	if err != nil {
		return "", err
	}
	name := filepath.Base(path)
	entry, err := json.Marshal([]string{"/" + name})
	if err != nil {
		return "", err
	}
	return e.executableImage(ctx, OfBinary, path, name, progress, "ENTRYPOINT "+string(entry))
}
