package serve

import (
	"errors"
	"io/fs"
	"path"
	"sync"
	"time"

	"recount/harness/record"
	"recount/history"
)

// cache keeps the runs that somebody looks at, with their histories, as far as memory goes.
type cache struct {
	fsys fs.FS
	mu   sync.Mutex
	kept recent[string, loading] // by their ids; a size is how many ops the history has, 0 while it is read
}

// loading returns a run with its history. Whoever comes first reads it, others wait.
type loading func() (*record.Run, error)

const (
	mostOps  = 1_200_000 // that all kept histories have, at about 250 bytes each
	mostRead = 3_000_000 // that one may have to be read at all: five nodes make as many in four hours
)

func newCache(fsys fs.FS) *cache {
	return &cache{fsys: fsys, kept: recent[string, loading]{room: mostOps}}
}

// readWhole reads a run with its history.
func readWhole(folder fs.FS) (*record.Run, error) {
	return record.ReadFS(folder, mostRead*history.OpSize)
}

// run returns a run with its history. A history that grows is read again as it has grown.
func (c *cache) run(id string) (*record.Run, error) {
	folder, err := fs.Sub(c.fsys, id)
	if err != nil {
		return nil, err
	}
	e := c.entry(id, lastWritten(folder), folder)
	r, err := e.value()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil:
		c.kept.weigh(e, len(r.History.Ops))
	case lasting(err):
		c.kept.weigh(e, 1)
	default:
		c.kept.drop(e) // it may be that it can be read the next time, as from a bucket
	}
	return r, err
}

// lasting reports whether a run cannot be read for as long as its files are what they are. To find that out once more may take half a minute.
func lasting(err error) bool {
	_, long := errors.AsType[*history.TooLongError](err)
	_, malformed := errors.AsType[*history.SyntaxError](err)
	return long || malformed
}

// history opens the history of a run, which nobody keeps.
func (c *cache) history(id string) (fs.File, error) {
	f, err := c.fsys.Open(path.Join(id, record.HistoryFile))
	if errors.Is(err, fs.ErrNotExist) {
		return c.fsys.Open(path.Join(id, record.HistoryFile+record.Compressed))
	}
	return f, err
}

// entry returns the place of a run, a new one if its history has changed.
func (c *cache) entry(id string, was time.Time, folder fs.FS) *entry[string, loading] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.kept.get(id, was); e != nil {
		return e
	}
	if large(folder) {
		c.kept.empty() // before it is read, not after: two of them would not fit
	}
	read := sync.OnceValues(func() (*record.Run, error) { return readWhole(folder) })
	e := &entry[string, loading]{key: id, was: was, value: read}
	c.kept.add(e)
	return e
}

// has reports whether a run's history is there, or why it cannot be, as it was written last at some time.
func (c *cache) has(id string, was time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.kept.get(id, was)
	return e != nil && e.size > 0
}

// large reports whether a history is one that takes a while to read.
func large(folder fs.FS) bool {
	for name, most := range map[string]int64{record.HistoryFile: 16 << 20, record.HistoryFile + record.Compressed: 1 << 20} {
		if info, err := fs.Stat(folder, name); err == nil && info.Size() > most {
			return true
		}
	}
	return false
}

// lastWritten is when a run's files were.
func lastWritten(folder fs.FS) (last time.Time) {
	for _, name := range []string{record.HistoryFile, record.HistoryFile + record.Compressed, record.VerdictsFile} {
		if info, err := fs.Stat(folder, path.Clean(name)); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}
