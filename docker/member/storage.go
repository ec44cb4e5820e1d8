package member

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// storage keeps values by key in a folder, one file each.
//
// What was stored survives the death of the process (SIGKILL): it is in a whole file, in the kernel's memory at least.
// What was synced survives that of the machine, too. A value that was stored and not synced may be there after the
// death of the machine, or the synced one before it, but never a mixture: a file that the machine left half-written
// fails its checksum, and the synced one is kept beside it until the next sync.
type storage struct {
	dir   *os.File
	dirty map[string]bool // keys stored since the last sync
}

// A value that is stored goes from writing, in one step, to stored; a sync takes it from there, in one step, to synced.
const (
	writing = ".writing"
	stored  = ".stored"
	synced  = ".synced"
)

// openStorage opens a folder, which is made if it is not there.
func openStorage(path string) (*storage, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, fmt.Errorf("node: open storage: %w", err)
	}
	dir, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("node: open storage: %w", err)
	}
	s := &storage{dir: dir, dirty: map[string]bool{}}
	names, err := dir.Readdirnames(-1)
	if err != nil {
		dir.Close()
		return nil, fmt.Errorf("node: open storage: %w", err)
	}
	for _, name := range names {
		if escaped, ok := strings.CutSuffix(name, stored); ok {
			if err := s.adopt(escaped); err != nil {
				dir.Close()
				return nil, fmt.Errorf("node: open storage: %w", err)
			}
		}
	}
	return s, nil
}

// adopt takes up a value that a former process stored and did not sync, unless the machine died over it.
func (s *storage) adopt(escaped string) error {
	key, err := url.PathUnescape(escaped)
	if err != nil {
		return fmt.Errorf("%q is no file of a node", escaped+stored)
	}
	_, err = read(s.path(key, stored))
	if errors.Is(err, errTorn) {
		return os.Remove(s.path(key, stored))
	}
	s.dirty[key] = true
	return err
}

var errTorn = errors.New("fails its checksum")

// read returns the value in a file.
func read(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(b) < 4 || binary.BigEndian.Uint32(b) != crc32.ChecksumIEEE(b[4:]) {
		return nil, fmt.Errorf("%s %w", path, errTorn)
	}
	return b[4:], nil
}

func (s *storage) path(key, state string) string {
	return filepath.Join(s.dir.Name(), url.PathEscape(key)+state)
}

// load returns the value stored last under key, or nil.
func (s *storage) load(key string) ([]byte, error) {
	state := synced
	if s.dirty[key] {
		state = stored
	}
	b, err := read(s.path(key, state))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("node: load %q: %w", key, err)
	}
	return b, nil
}

// store writes a value under key.
func (s *storage) store(key string, value []byte) error {
	b := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(value)), crc32.ChecksumIEEE(value))
	err := os.WriteFile(s.path(key, writing), append(b, value...), 0o644)
	if err == nil {
		err = os.Rename(s.path(key, writing), s.path(key, stored))
	}
	if err != nil {
		return fmt.Errorf("node: store %q: %w", key, err)
	}
	s.dirty[key] = true
	return nil
}

// sync returns when all that was stored would survive the death of the machine.
func (s *storage) sync() error {
	if len(s.dirty) == 0 {
		return nil
	}
	for key := range s.dirty {
		if err := s.settle(key); err != nil {
			return fmt.Errorf("node: sync %q: %w", key, err)
		}
	}
	if err := s.dir.Sync(); err != nil {
		return fmt.Errorf("node: sync: %w", err)
	}
	clear(s.dirty)
	return nil
}

// settle makes a stored value the synced one.
func (s *storage) settle(key string) error {
	f, err := os.Open(s.path(key, stored))
	if err != nil {
		return err
	}
	err = f.Sync()
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(s.path(key, stored), s.path(key, synced))
}

// next returns one more than the number stored under key, and keeps it.
func (s *storage) next(key string) (uint64, error) {
	b, err := s.load(key)
	if err != nil {
		return 0, err
	}
	n := uint64(1)
	if len(b) == 8 {
		n += binary.BigEndian.Uint64(b)
	}
	if err := s.store(key, binary.BigEndian.AppendUint64(nil, n)); err != nil {
		return 0, err
	}
	return n, s.sync()
}

func (s *storage) close() { s.dir.Close() }
