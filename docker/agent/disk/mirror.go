//go:build linux

package disk

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"recount/history"
)

// Mirror is a disk that nobody reads from: what happens to a folder elsewhere is told to it by paths, so that it knows
// what of it a crash would leave. Paths are absolute, as those see them whose root the folder is. It is not safe for
// concurrent use.
type Mirror struct{ d *Disk }

// NewMirror returns a mirror of a folder as it is; all of it counts as synced. What a crash in the midst of a write leaves is drawn
// from rnd.
func NewMirror(folder string, rnd *rand.Rand) (*Mirror, error) {
	m := &Mirror{New(rnd)}
	if err := m.d.load(m.d.root, folder); err != nil {
		return nil, fmt.Errorf("mirror %s: %w", folder, err)
	}
	return m, nil
}

// place is the folder that a path is in, and its name there; nil where there is no such folder.
func (m *Mirror) place(path string) (dir *inode, name string) {
	at := m.d.root
	parts := strings.Split(strings.Trim(filepath.Clean(path), "/"), "/")
	for _, p := range parts[:len(parts)-1] {
		if at = at.entries[p]; at == nil || !at.folder() {
			return nil, ""
		}
	}
	return at, parts[len(parts)-1]
}

// at returns the file or folder at a path, or nil if there is none.
func (m *Mirror) at(path string) *inode {
	if filepath.Clean(path) == "/" {
		return m.d.root
	}
	if dir, name := m.place(path); dir != nil {
		return dir.entries[name]
	}
	return nil
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

// Write writes to a file.
func (m *Mirror) Write(path string, b []byte, off int64) {
	if i := m.at(path); i != nil && !i.folder() {
		m.d.write(i, b, off)
	}
}

// Truncate makes a file that long.
func (m *Mirror) Truncate(path string, size int64) {
	if i := m.at(path); i != nil && !i.folder() {
		m.d.truncate(i, size)
	}
}

// Sync puts a file or a folder on disk.
func (m *Mirror) Sync(path string) {
	if i := m.at(path); i != nil {
		m.d.sync(i)
	}
}

// SyncAll puts everything on disk.
func (m *Mirror) SyncAll() {
	var all func(i *inode)
	all = func(i *inode) {
		m.d.sync(i)
		for _, child := range i.entries {
			all(child)
		}
	}
	all(m.d.root)
}

// Rename gives what has a path another one; what had that is gone.
func (m *Mirror) Rename(path, to string) {
	dir, name := m.place(path)
	other, newName := m.place(to)
	if dir != nil && other != nil {
		m.d.rename(dir, name, other, newName, 0)
	}
}

// Link gives a file another name.
func (m *Mirror) Link(path, to string) {
	i := m.at(path)
	if dir, name := m.place(to); dir != nil && i != nil {
		m.d.link(i, dir, name)
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

// Crash takes away what is not on disk, or with torn all but a part of the last write, and makes the folder what is left.
func (m *Mirror) Crash(folder string, torn bool) error {
	m.d.Set(history.DiskState{Torn: torn})
	m.d.Crash()
	return m.Put(folder)
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
		b := make([]byte, i.data.size)
		i.data.read(b, 0)
		return os.WriteFile(path, b, 0o644)
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
