//go:build unix

package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"recount/history"
)

// Mirror is a disk that nobody reads from: what happens to a folder elsewhere is told to it, so that it knows what of it a crash
// would leave. Paths are absolute, as those see them whose root the folder is, and who tells of them has followed links and dots. It
// holds as much as it is told, and is not safe for concurrent use.
type Mirror struct{ d *Disk }

// File is a file or a folder that somebody has open, whatever its names have become since. Of nil nothing is done.
type File struct {
	d *Disk
	i *inode
}

// NewMirror returns a mirror of a folder as it is; all of it counts as synced. What a crash in the midst of a write leaves is drawn
// from rnd.
func NewMirror(folder string, rnd *rand.Rand) (*Mirror, error) {
	m := &Mirror{New(rnd)}
	m.d.size = unlimited
	if err := m.d.load(m.d.root, folder); err != nil {
		return nil, fmt.Errorf("mirror %s: %w", folder, err)
	}
	return m, nil
}

// place is the folder that a path is in, and its name there; nil where there is no such folder.
func (m *Mirror) place(path string) (dir *inode, name string) {
	if dir = m.at(filepath.Dir(path)); dir == nil || !dir.folder() {
		return nil, ""
	}
	return dir, filepath.Base(path)
}

// at returns what has a path, or nil.
func (m *Mirror) at(path string) *inode {
	if path == "/" {
		return m.d.root
	}
	dir, name := m.place(path)
	if dir == nil {
		return nil
	}
	return dir.entries[name]
}

// Create makes an empty file, Mkdir a folder, and Symlink a symbolic link.
func (m *Mirror) Create(path string) { m.make(path, syscall.S_IFREG|0o644, "") }

// Mkdir makes a folder.
func (m *Mirror) Mkdir(path string) { m.make(path, syscall.S_IFDIR|0o755, "") }

// Symlink makes a symbolic link to a target.
func (m *Mirror) Symlink(target, path string) { m.make(path, syscall.S_IFLNK|0o777, target) }

func (m *Mirror) make(path string, mode uint32, target string) {
	if dir, name := m.place(path); dir != nil {
		m.d.make(dir, name, mode, 0, 0, target)
	}
}

// Open returns what has a path, or nil.
func (m *Mirror) Open(path string) *File {
	if i := m.at(path); i != nil {
		return &File{m.d, i}
	}
	return nil
}

// Write writes to a file.
func (f *File) Write(b []byte, off int64) {
	if f != nil && !f.i.folder() {
		f.d.write(f.i, b, off)
	}
}

// Truncate makes a file that long.
func (f *File) Truncate(size int64) {
	if f != nil && !f.i.folder() {
		f.d.truncate(f.i, size)
	}
}

// Sync puts a file or a folder on disk.
func (f *File) Sync() {
	if f != nil {
		f.d.sync(f.i)
	}
}

// GiveUp is a sync that fails: what was written since the last is not on disk, and no later one puts it there.
func (f *File) GiveUp() {
	if f != nil {
		f.d.giveUp(f.i)
	}
}

// Map tells that a file is written through memory: it may be otherwise than is told from then on, until it is read again.
func (f *File) Map() {
	if f != nil && !f.i.folder() {
		f.i.mapped = true
	}
}

// SyncAll puts everything on disk, and GiveUpAll fails to.
func (m *Mirror) SyncAll() { m.d.root.walk(func(i *inode) { m.d.sync(i) }) }

// GiveUpAll is a sync of everything that fails.
func (m *Mirror) GiveUpAll() { m.d.root.walk(m.d.giveUp) }

// walk calls f with a file or a folder, and with all that is below it.
func (i *inode) walk(f func(*inode)) {
	f(i)
	for _, name := range slices.Sorted(maps.Keys(i.entries)) {
		i.entries[name].walk(f)
	}
}

// Rename gives what has a path another one; what had that is gone.
func (m *Mirror) Rename(path, to string) { m.rename(path, to, 0) }

// Exchange gives each of two paths what the other has.
func (m *Mirror) Exchange(path, to string) { m.rename(path, to, exchange) }

func (m *Mirror) rename(path, to string, flags uint32) {
	dir, name := m.place(path)
	other, newName := m.place(to)
	if dir != nil && other != nil {
		m.d.rename(dir, name, other, newName, flags)
	}
}

// Link gives a file another name.
func (m *Mirror) Link(path, to string) {
	from, old := m.place(path)
	dir, name := m.place(to)
	if from != nil && dir != nil && from.entries[old] != nil {
		m.d.link(from.entries[old], dir, name)
	}
}

// Remove takes the name of a file or an empty folder away.
func (m *Mirror) Remove(path string) {
	dir, name := m.place(path)
	if dir == nil || dir.entries[name] == nil {
		return
	}
	m.d.remove(dir, name, dir.entries[name].folder())
}

// Crash takes away what is not on disk, but for what the state of the disk has a crash leave of it, and makes the folder what is left.
func (m *Mirror) Crash(folder string, s history.DiskState) error {
	m.d.Set(s.Left())
	m.d.Crash()
	return m.Put(folder)
}

// Reread has what was written through memory, and was not told before who wrote it had ended, written by now.
func (m *Mirror) Reread(folder string) error {
	if err := m.d.root.reread(folder); err != nil {
		return fmt.Errorf("read what was written through memory: %w", err)
	}
	return nil
}

// reread does that below a path.
func (i *inode) reread(path string) error {
	for _, name := range slices.Sorted(maps.Keys(i.entries)) {
		if err := i.entries[name].reread(filepath.Join(path, name)); err != nil {
			return err
		}
	}
	if !i.mapped {
		return nil
	}
	i.mapped = false
	return i.data.reread(path)
}

// reread makes the content that of a path, if there is anything. What reads as zeros takes no room.
func (c *content) reread(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) { // who was ended by then had taken the name away
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	c.truncate(0)
	c.truncate(info.Size())
	for b, off := make([]byte, 256*pageSize), int64(0); off < c.size; off += int64(len(b)) {
		n, err := f.ReadAt(b, off)
		if err != nil && err != io.EOF {
			return err
		}
		for at := 0; at < n; at += pageSize {
			if p := b[at:min(at+pageSize, n)]; !bytes.Equal(p, reserved[:len(p)]) {
				c.write(p, off+int64(at))
			}
		}
	}
	return nil
}

// Put makes the folder what the mirror was told, whatever else has been done to it.
func (m *Mirror) Put(folder string) error {
	if err := os.RemoveAll(folder); err != nil {
		return fmt.Errorf("put back the disk: %w", err)
	}
	if err := m.d.root.restore(folder, map[*inode]string{}); err != nil {
		return fmt.Errorf("put back the disk: %w", err)
	}
	return nil
}

// restore writes an inode to a path; written are the files that have a path already.
func (i *inode) restore(path string, written map[*inode]string) error {
	switch first := written[i]; {
	case first != "":
		return os.Link(first, path)
	case i.target != "":
		return os.Symlink(i.target, path)
	case !i.folder():
		written[i] = path
		return i.data.restore(path)
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(i.entries)) {
		if err := i.entries[name].restore(filepath.Join(path, name), written); err != nil {
			return err
		}
	}
	return nil
}

// restore writes a file's content to a path; what reads as zeros and takes no room does not there either.
func (c *content) restore(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	for at, p := range c.pages {
		if off := at * pageSize; off < c.size {
			_, failed := f.WriteAt(p[:min(pageSize, c.size-off)], off)
			err = errors.Join(err, failed)
		}
	}
	return errors.Join(err, f.Truncate(c.size), f.Close())
}
