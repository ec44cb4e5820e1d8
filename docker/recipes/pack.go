package recipes

import (
	"archive/tar"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// pack writes the folder root as a tar archive into dir and returns the archive, open at its start. It can be read even
// when dir is gone, and takes no room any more once it is closed.
//
// Owners, times and this user's umask are left out: the same files make the same archive. Folders that all may write to, as /tmp, stay so.
func pack(root, dir string) (archive *os.File, err error) {
	archive, err = os.CreateTemp(dir, "root-*.tar")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			archive.Close()
		}
	}()
	w := tar.NewWriter(archive)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		return add(w, root, path, d)
	})
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	_, err = archive.Seek(0, io.SeekStart)
	return archive, err
}

func add(w *tar.Writer, root, path string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	name, err := filepath.Rel(root, path)
	if err != nil {
		return err
	}
	h := &tar.Header{Name: filepath.ToSlash(name), Mode: 0o755}
	switch {
	case info.IsDir():
		h.Typeflag, h.Name = tar.TypeDir, h.Name+"/"
		if info.Mode()&fs.ModeSticky != 0 {
			h.Mode = 0o1777
		}
	case info.Mode()&fs.ModeSymlink != 0:
		h.Typeflag = tar.TypeSymlink
		if h.Linkname, err = os.Readlink(path); err != nil {
			return err
		}
	case info.Mode().IsRegular():
		h.Typeflag, h.Size = tar.TypeReg, info.Size()
		if info.Mode()&0o111 == 0 {
			h.Mode = 0o644
		}
	default:
		return fmt.Errorf("%s is neither file, folder nor link", name)
	}
	if err := w.WriteHeader(h); err != nil || h.Typeflag != tar.TypeReg {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}
