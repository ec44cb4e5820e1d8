package docker

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/docker/docker/api/types/build"
	"github.com/docker/docker/api/types/image"

	"recount/hint"
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

// BuildImage builds the image of a Dockerfile, whose folder is the context, and returns its name.
func (e *Engine) BuildImage(ctx context.Context, dockerfile string, progress func(string)) (ref string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("docker: build %s: %w", dockerfile, err)
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
	hash := sha256.New()
	t := tar.NewWriter(io.MultiWriter(f, hash))
	if err := errors.Join(t.AddFS(os.DirFS(filepath.Dir(dockerfile))), t.Close()); err != nil {
		return "", err
	}
	io.WriteString(hash, filepath.Base(dockerfile)) // never fails
	ref = fmt.Sprintf("recount/dockerfile:%.8x", hash.Sum(nil))
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
		Labels: map[string]string{labelImage: "dockerfile"},
	})
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	return ref, messages(answer.Body, progress)
}

// BinaryImage makes an image that holds nothing but a static Linux executable, which it runs, and returns its name.
func (e *Engine) BinaryImage(ctx context.Context, path string, progress func(string)) (ref string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("docker: %w", err)
		}
	}()
	if _, err := os.Stat(path); err != nil {
		return "", hint.Add(err, "build it: CGO_ENABLED=0 GOOS=linux GOARCH=%s go build -o %s PACKAGE", e.version.Arch, path)
	}
	if err := CheckExecutable(path, e.version.Arch); err != nil {
		return "", hint.Add(err, "build it static and for Linux: CGO_ENABLED=0 GOOS=linux GOARCH=%s go build", e.version.Arch)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	name := filepath.Base(path)
	hash := sha256.New()
	size, err := io.Copy(hash, f)
	if err != nil {
		return "", err
	}
	io.WriteString(hash, name) // never fails
	ref = fmt.Sprintf("recount/binary:%.8x", hash.Sum(nil))
	has, err := e.HasImage(ctx, ref)
	if err != nil || has {
		return ref, err
	}
	progress(fmt.Sprintf("making image %s of %s (%d MB)", ref, path, size>>20))
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	entry, err := json.Marshal([]string{"/" + name})
	if err != nil {
		return "", err
	}
	r, w := io.Pipe()
	defer r.Close()
	go func() { w.CloseWithError(packExecutable(w, f, name, size)) }()
	answer, err := e.api.ImageImport(ctx, image.ImportSource{Source: r, SourceName: "-"}, ref, image.ImportOptions{
		Changes: []string{"ENTRYPOINT " + string(entry), "LABEL " + labelImage + "=binary"},
	})
	if err != nil {
		return "", err
	}
	defer answer.Close()
	return ref, messages(answer, func(string) {})
}

// messages reads the stream of JSON messages by which an engine tells how far it is; a failure halfway is one of them.
func messages(answer io.Reader, progress func(string)) error {
	for d := json.NewDecoder(answer); ; {
		var m struct{ Stream, Error string }
		if err := d.Decode(&m); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if m.Error != "" {
			return errors.New(strings.TrimSpace(m.Error))
		}
		if line := strings.TrimSpace(m.Stream); line != "" {
			progress(line)
		}
	}
}
