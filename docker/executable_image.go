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

	"recount/internal/hint"
)

// executableImage makes an image that holds nothing but the executable in a file, under a name in its root, unless the
// engine has it. It returns the image's name, and whether it was there. Changes are as with importImage.
func (e *Engine) executableImage(ctx context.Context, repository, path, name string, progress func(string), changes ...string) (
	ref string, had bool, err error,
) {
	f, err := os.Open(path)
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	hash := sha256.New()
	size, err := io.Copy(hash, f)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return "", false, fmt.Errorf("read Recount's executable: %w", err)
	}
	io.WriteString(hash, name) // never fails
	ref = fmt.Sprintf("%s:%.8x", repository, hash.Sum(nil))
	if had, err = e.HasImage(ctx, ref); had || err != nil {
		return ref, had, err
	}
	progress(fmt.Sprintf("making image %s of %s (%d MB)", ref, path, size>>20))
	r, w := io.Pipe()
	defer r.Close()
	go func() { w.CloseWithError(packExecutable(w, f, name, size)) }()
	return ref, false, e.importImage(ctx, ref, r, changes...)
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
