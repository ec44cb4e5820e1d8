package serve

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"recount/harness/record"
)

// index knows what lies in the results. It is brought up to date when somebody asks, and reads only what it does not know
// yet: a folder whose run has been judged is looked at again once in a while.
type index struct {
	fsys  fs.FS
	clock func() time.Time

	mu    sync.Mutex
	known map[string]*Run
	shown *snapshot
	at    time.Time
}

// snapshot is the results at one time. It is never changed.
type snapshot struct {
	runs  []*Run // from the newest to the oldest
	byID  map[string]*Run
	other []Folder
	more  bool // there is more than the index takes
}

// Folder is what holds many runs: a matrix, a suite, a campaign.
type Folder struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind"`
	Started time.Time `json:"started"` // by its file
}

const (
	fresh    = 400 * time.Millisecond // for how long a snapshot does
	recheck  = time.Minute            // between two looks at the folder of a judged run
	perRound = 300                    // judged runs looked at again in one round
	deepest  = 6                      // folders below the results: campaigns/<name>/runs/<target>/<time> has five
	most     = 200_000                // runs
)

// The files that tell what a folder of many runs is.
var folderFiles = [][2]string{{"matrix.json", "matrix"}, {"suite.json", "suite"}, {"campaign.json", "campaign"}}

func newIndex(root *os.Root, clock func() time.Time) *index {
	return &index{fsys: root.FS(), clock: clock, known: map[string]*Run{}, shown: &snapshot{}}
}

// now returns the results as they are.
func (x *index) now() *snapshot {
	x.mu.Lock()
	stale := x.clock().Sub(x.at) > fresh
	x.mu.Unlock()
	if stale {
		_ = x.refresh() // a folder that cannot be read any more shows as it was
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.shown
}

// run returns a run by its ID, or nil.
func (x *index) run(id string) *Run { return x.now().byID[id] }

func (x *index) refresh() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.clock().Sub(x.at) <= fresh { // somebody else was faster
		return nil
	}
	w := &walk{index: x, now: x.clock(), next: &snapshot{byID: map[string]*Run{}}, left: perRound}
	if err := w.folder(".", "", 0); err != nil {
		return fmt.Errorf("read the results: %w", err)
	}
	newest(w.next.runs)
	x.known, x.shown, x.at = w.next.byID, w.next, x.clock()
	return nil
}

// walk is one look at all folders.
type walk struct {
	*index
	now  time.Time
	next *snapshot
	left int // judged runs that may be looked at again
}

func (w *walk) folder(dir, of string, depth int) error {
	entries, err := fs.ReadDir(w.fsys, dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		// Links are left out: results/latest is one, and others lead nobody knows where.
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(e.Name(), record.Scratch) {
			continue
		}
		p := path.Join(dir, e.Name())
		if r := w.run(p); r != nil {
			if w.next.more = len(w.next.runs) >= most; w.next.more {
				return nil
			}
			r.Of = of
			w.next.byID[p] = r
			w.next.runs = append(w.next.runs, r)
			continue
		}
		if depth < deepest {
			_ = w.folder(p, w.kind(p, of), depth+1) // one that cannot be read has no runs
		}
	}
	return nil
}

// run returns the run in a folder, anew if it may have changed.
func (w *walk) run(dir string) *Run {
	r := w.known[dir]
	if r == nil {
		return readRun(w.fsys, dir, w.now)
	}
	switch {
	case r.State == UnderWay || r.State == Unreadable:
		return readRun(w.fsys, dir, w.now)
	case w.left > 0 && w.now.Sub(r.checked) > recheck:
		w.left--
		if stampOf(w.fsys, dir) != r.stamp || r.State == CutShort {
			return readRun(w.fsys, dir, w.now)
		}
		same := *r
		same.checked = w.now
		return &same
	}
	return r
}

// kind takes note of a folder that holds many runs, and returns what runs below it belong to.
func (w *walk) kind(dir, of string) string {
	for _, k := range folderFiles {
		if info, err := fs.Stat(w.fsys, path.Join(dir, k[0])); err == nil {
			w.next.other = append(w.next.other, Folder{dir, k[1], info.ModTime()})
			return dir
		}
	}
	return of
}
