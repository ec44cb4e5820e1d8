//go:build unix

package disk

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// load puts into a folder of the disk what is below a path.
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
		i.mode, i.uid, i.gid = uint32(st.Mode), st.Uid, st.Gid
	}
	i.mtime = info.ModTime()
}
