//go:build linux

package disk

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Load puts on the disk what an image has brought along in the folder that the disk is to be mounted on: files, folders
// and links, with their owners and modes. It is called before the disk is first attached.
func (s *Space) Load(d *Disk, path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := s.do(func() error {
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		d.root.own(info)
		return d.load(d.root, path)
	})
	d.touched = false // by no node
	if err != nil {
		return fmt.Errorf("load %s: %w", path, err)
	}
	return nil
}

func (d *Disk) load(dir *inode, path string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return err
		}
		from := filepath.Join(path, e.Name())
		var kind uint32
		target, bytes := "", []byte(nil)
		switch {
		case info.IsDir():
			kind = syscall.S_IFDIR
		case info.Mode()&os.ModeSymlink != 0:
			kind = syscall.S_IFLNK
			target, err = os.Readlink(from)
		case info.Mode().IsRegular():
			kind = syscall.S_IFREG
			bytes, err = os.ReadFile(from)
		default:
			continue
		}
		if err != nil {
			return err
		}
		i, failed := d.make(dir, e.Name(), kind, 0, 0, target)
		if failed == 0 && len(bytes) > 0 {
			failed = d.write(i, bytes, 0)
		}
		if failed == 0 {
			failed = d.sync(i)
		}
		if failed != 0 {
			return fmt.Errorf("%s: %w", e.Name(), failed)
		}
		i.own(info)
		if info.IsDir() {
			if err := d.load(i, from); err != nil {
				return err
			}
		}
	}
	return nil
}

// own takes over whose a file is, and who may do what to it.
func (i *inode) own(info os.FileInfo) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		i.mode, i.uid, i.gid = st.Mode, st.Uid, st.Gid
	}
	i.mtime = info.ModTime()
}
