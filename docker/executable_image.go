package docker

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"

	"recount/internal/hint"
)

// unusedFor is how long an image of another executable must not have been asked for before it is removed.
const unusedFor = 10 * time.Minute

// executableImage makes an image of a kind that holds nothing but the executable in a file, under a name in its root, unless the engine
// has it. It returns the image's name. Changes are as with importImage.
func (e *Engine) executableImage(ctx context.Context, kind, path, name string, progress func(string), changes ...string) (ref string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	size, err := io.Copy(hash, f)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return "", fmt.Errorf("read the executable: %w", err)
	}
	io.WriteString(hash, name) // never fails
	ref = fmt.Sprintf("recount/%s:%.8x", kind, hash.Sum(nil))
	had, err := e.HasImage(ctx, ref)
	if err != nil {
		return "", err
	}
	if had { // a new tag, though the same one, tells other Recounts that somebody wants the image
		if err := e.api.ImageTag(ctx, ref, ref); err != nil {
			return "", fmt.Errorf("tag image %s: %w", ref, err)
		}
		return ref, nil
	}
	progress(fmt.Sprintf("making image %s of %s (%d MB)", ref, path, size>>20))
	r, w := io.Pipe()
	defer r.Close()
	go func() { w.CloseWithError(packExecutable(w, f, name, size)) }()
	if err := e.importImage(ctx, ref, r, append(changes, "LABEL "+labelImage+"="+kind)...); err != nil {
		return "", err
	}
	return ref, e.removeUnused(ctx, kind, ref, unusedFor)
}

// removeUnused removes images of a kind that nobody has asked for so long: each build of an executable makes a new one.
func (e *Engine) removeUnused(ctx context.Context, kind, keep string, within time.Duration) error {
	all, err := e.api.ImageList(ctx, image.ListOptions{Filters: filters.NewArgs(filters.Arg("label", labelImage+"="+kind))})
	if err != nil {
		return fmt.Errorf("list old images: %w", err)
	}
	for _, old := range all {
		for _, ref := range refsOf(old) {
			if ref == keep {
				continue
			}
			is, err := e.api.ImageInspect(ctx, ref)
			asked := is.Metadata.LastTagTime // which Podman does not tell
			if err != nil || asked.IsZero() || time.Since(asked) < within {
				continue
			}
			// The engine itself refuses to remove what a container uses, and somebody else may have been quicker: of two at once, one may be
			// told that there is something wrong with the image.
			_, err = e.api.ImageRemove(ctx, ref, image.RemoveOptions{})
			if err == nil || cerrdefs.IsConflict(err) {
				continue
			}
			if _, gone := e.api.ImageInspect(ctx, ref); !cerrdefs.IsNotFound(gone) {
				return fmt.Errorf("remove old image %s: %w", ref, err)
			}
		}
	}
	return nil
}

// packExecutable makes a root filesystem of one executable, and a folder for temporary files.
func packExecutable(w io.Writer, executable io.Reader, name string, size int64) error {
	t := tar.NewWriter(w)
	if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}); err != nil {
		return err
	}
	if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755, Size: size}); err != nil {
		return err
	}
	if _, err := io.Copy(t, executable); err != nil {
		return err
	}
	return t.Close()
}

// CheckExecutable returns an error for a file that would not run in a container, of that architecture, that holds
// nothing else.
func CheckExecutable(path, arch string) error {
	const build = "build it static: CGO_ENABLED=0 go build, or go install; of Recount itself, CGO_ENABLED=0 go install ./cmd/recount"
	f, err := elf.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return hint.Add(fmt.Errorf("no Linux executable of Recount at %s", path),
			"build one: GOOS=linux GOARCH=%s CGO_ENABLED=0 go build -o %s ./cmd/recount", arch, path)
	}
	if err != nil {
		return fmt.Errorf("executable %s: %w", path, err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return hint.Add(fmt.Errorf("executable %s is linked dynamically and would not run in an empty container", path), build)
		}
	}
	return nil
}
