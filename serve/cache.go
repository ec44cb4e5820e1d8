package serve

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"sync"
	"time"

	"recount/harness/record"
	"recount/history"
)

// cache keeps the runs that somebody looks at, with their histories, as far as memory goes.
type cache struct {
	fsys fs.FS
	mu   sync.Mutex
	kept []*loaded // the one used last is the last
}

// loaded is a run with its history.
type loaded struct {
	id  string
	was time.Time // when its history was written last
	get func() (*record.Run, error)
	ops int
}

const (
	mostOps  = 1_200_000 // that all kept histories have, at about 250 bytes each
	mostRead = 3_000_000 // that one may have to be read at all: five nodes make as many in four hours
)

func newCache(fsys fs.FS) *cache { return &cache{fsys: fsys} }

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
	l := c.entry(id, lastWritten(folder), folder)
	r, err := l.get()
	if err != nil {
		c.drop(l)
		return nil, err
	}
	c.settle(l, len(r.History.Ops))
	return r, nil
}

// drop forgets a run that could not be read: it may be that it can be the next time, as from a bucket.
func (c *cache) drop(l *loaded) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = slices.DeleteFunc(c.kept, func(k *loaded) bool { return k == l })
}

// history opens the history of a run, which nobody keeps.
func (c *cache) history(id string) (fs.File, error) {
	f, err := c.fsys.Open(path.Join(id, record.HistoryFile))
	if errors.Is(err, fs.ErrNotExist) {
		return c.fsys.Open(path.Join(id, record.HistoryFile+record.Compressed))
	}
	return f, err
}

// entry returns the place of a run, a new one if its history has changed. Whoever comes first reads it, others wait.
func (c *cache) entry(id string, was time.Time, folder fs.FS) *loaded {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.IndexFunc(c.kept, func(l *loaded) bool { return l.id == id }); i >= 0 {
		l := c.kept[i]
		c.kept = slices.Delete(c.kept, i, i+1)
		if l.was.Equal(was) {
			c.kept = append(c.kept, l)
			return l
		}
	}
	if large(folder) {
		c.kept = nil // before it is read, not after: two of them would not fit
	}
	l := &loaded{id: id, was: was, get: sync.OnceValues(func() (*record.Run, error) { return readWhole(folder) })}
	c.kept = append(c.kept, l)
	return l
}

// has reports whether a run's history is there, as it was written last at some time.
func (c *cache) has(id string, was time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.kept, func(l *loaded) bool { return l.id == id && l.was.Equal(was) && l.ops > 0 })
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

// settle lets go of the histories used least lately.
func (c *cache) settle(l *loaded, ops int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l.ops = ops
	total := 0
	for i := len(c.kept) - 1; i >= 0; i-- {
		if total += c.kept[i].ops; total > mostOps && c.kept[i] != l {
			c.kept = slices.Delete(c.kept, i, i+1)
		}
	}
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
