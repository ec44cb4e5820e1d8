package docker

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"

	"recount/hint"
)

const (
	selfName = "recount/self"
	// SelfPath is where the image that SelfImage makes keeps Recount's executable.
	SelfPath = "/recount"
	// unusedFor is how long an image of another Recount must not have been asked for before it is removed.
	unusedFor = 10 * time.Minute
)

// HasImage reports whether the engine has an image of that name.
func (e *Engine) HasImage(ctx context.Context, ref string) (bool, error) {
	_, err := e.api.ImageInspect(ctx, ref)
	if cerrdefs.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("docker: look for image %s: %w", ref, err)
	}
	return true, nil
}

// ImportImage makes an image out of a root filesystem. Labels are written "key=value".
func (e *Engine) ImportImage(ctx context.Context, ref string, root io.Reader, labels ...string) error {
	var changes []string
	for _, l := range labels {
		changes = append(changes, "LABEL "+l)
	}
	answer, err := e.api.ImageImport(ctx, image.ImportSource{Source: root, SourceName: "-"}, ref, image.ImportOptions{Changes: changes})
	if err != nil {
		return fmt.Errorf("docker: import image %s: %w", ref, err)
	}
	defer answer.Close()
	// The answer is a stream of JSON messages; a failure halfway is one of them.
	for d := json.NewDecoder(answer); ; {
		var m struct{ Error string }
		if err := d.Decode(&m); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("docker: import image %s: %w", ref, err)
		}
		if m.Error != "" {
			return fmt.Errorf("docker: import image %s: %s", ref, m.Error)
		}
	}
}

// SelfImage returns the name of an image that holds nothing but this executable, at SelfPath. It is made if the engine
// does not have it. Where this executable is none for Linux containers, the one beside it is taken whose name ends in
// -linux-amd64, or whatever the engine's architecture is.
func (e *Engine) SelfImage(ctx context.Context, progress func(string)) (ref string, err error) {
	path, err := e.self()
	if err != nil {
		return "", fmt.Errorf("docker: %w", err)
	}
	return e.ExecutableImage(ctx, path, progress)
}

func (e *Engine) self() (path string, err error) {
	path, err = os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this executable: %w", err)
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != e.version.Arch {
		path += "-linux-" + e.version.Arch
	}
	return path, nil
}

// ExecutableImage is SelfImage with the executable in that file.
func (e *Engine) ExecutableImage(ctx context.Context, path string, progress func(string)) (ref string, err error) {
	if err := CheckExecutable(path, e.version.Arch); err != nil {
		return "", fmt.Errorf("docker: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("docker: read executable: %w", err)
	}
	defer f.Close()
	hash := sha256.New()
	size, err := io.Copy(hash, f)
	if err != nil {
		return "", fmt.Errorf("docker: read executable: %w", err)
	}
	ref = fmt.Sprintf("%s:%.8x", selfName, hash.Sum(nil))
	has, err := e.HasImage(ctx, ref)
	if err != nil {
		return "", err
	}
	if has {
		// A new tag, though the same one, tells other Recounts that somebody wants the image.
		if err := e.api.ImageTag(ctx, ref, ref); err != nil {
			return "", fmt.Errorf("docker: tag image %s: %w", ref, err)
		}
		return ref, nil
	}
	if progress != nil {
		progress(fmt.Sprintf("make image %s of %s (%d MB)", ref, filepath.Base(path), size>>20))
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", fmt.Errorf("docker: read executable: %w", err)
	}
	r, w := io.Pipe()
	defer r.Close()
	go func() { w.CloseWithError(packExecutable(w, f, SelfPath[1:], size)) }()
	if err := e.ImportImage(ctx, ref, r, labelImage+"=self"); err != nil {
		return "", err
	}
	return ref, e.removeOldSelf(ctx, ref)
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
	const build = "build it with CGO_ENABLED=0 (make build does)"
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

// removeOldSelf removes images of other Recounts that nobody uses: each build of Recount makes a new one.
func (e *Engine) removeOldSelf(ctx context.Context, keep string) error {
	all, err := e.api.ImageList(ctx, image.ListOptions{Filters: filters.NewArgs(filters.Arg("label", labelImage+"=self"))})
	if err != nil {
		return fmt.Errorf("docker: list old images: %w", err)
	}
	for _, old := range all {
		for _, ref := range old.RepoTags {
			if ref == keep {
				continue
			}
			is, err := e.api.ImageInspect(ctx, ref)
			if err != nil || time.Since(is.Metadata.LastTagTime) < unusedFor {
				continue
			}
			// The engine itself refuses to remove what a container uses, and somebody else may have been quicker.
			_, err = e.api.ImageRemove(ctx, ref, image.RemoveOptions{})
			if err != nil && !cerrdefs.IsConflict(err) && !cerrdefs.IsNotFound(err) {
				return fmt.Errorf("docker: remove old image %s: %w", ref, err)
			}
		}
	}
	return nil
}
