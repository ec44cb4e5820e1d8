package serve

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"recount/harness/batch"
	"recount/harness/campaign"
	"recount/harness/matrix"
	"recount/harness/record"
)

// index knows what lies in the results. It is brought up to date when somebody asks, and reads only what it does not know
// yet: a folder whose run has been judged is looked at again once in a while.
type index struct {
	fsys  fs.FS
	clock func() time.Time

	mu      sync.Mutex
	shown   *snapshot
	checked map[string]time.Time // when the folder of a judged run was looked at last
	at      time.Time
	took    time.Duration // the last look at all folders
	busy    bool          // one is under way that nobody waits for
}

// snapshot is the results at one time. It is never changed.
type snapshot struct {
	runs  []*Run // from the newest to the oldest
	byID  map[string]*Run
	other []Folder
	more  bool // there is more than the index takes

	findings func() []*Finding
	again    func() map[*Run]*Run // runs of an experiment that an older run has made, and that run
}

// Folder is what holds many runs: a matrix, a suite, a campaign.
type Folder struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind"`
	Started time.Time `json:"started"` // by its file
}

const (
	fresh    = 400 * time.Millisecond // for how long a snapshot does
	rest     = 4                      // looks at results that are far away take time, and rest that many times as long
	soon     = 30 * time.Millisecond  // how long somebody may wait for one
	recheck  = time.Minute            // between two looks at the folder of a judged run
	perRound = 300                    // judged runs looked at again in one round
	deepest  = 6                      // folders below the results: campaigns/<name>/runs/<target>/<time> has five
	most     = 200_000                // runs
)

// The files that tell what a folder of many runs is.
var folderFiles = [][2]string{{matrix.DataFile, "matrix"}, {"suite.json", "suite"}, {campaign.CampaignFile, "campaign"}, {batch.NotesFile, "activity"}}

func newIndex(fsys fs.FS, clock func() time.Time) *index {
	return &index{fsys: fsys, clock: clock, checked: map[string]time.Time{}, shown: blank()}
}

// now returns the results as they are, or, where looking takes its time, as they were when somebody asked last. A folder that cannot be
// read any more shows as it was.
func (x *index) now() *snapshot {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.clock().Sub(x.at) <= max(fresh, rest*x.took) || x.busy:
	case x.took < soon:
		_ = x.look()
	default:
		x.busy = true
		go func() { _ = x.refresh() }()
	}
	return x.shown
}

// run returns a run by its ID, or nil.
func (x *index) run(id string) *Run { return x.now().byID[id] }

// refresh looks at all folders while others are shown what was there before.
func (x *index) refresh() error {
	x.mu.Lock()
	w := x.walk()
	x.busy = true
	x.mu.Unlock()
	err := guarded(w.all)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.busy = false
	return x.take(w, err)
}

// look is refresh for who holds the lock.
func (x *index) look() error {
	w := x.walk()
	return x.take(w, w.all())
}

func (x *index) take(w *walk, err error) error {
	x.at, x.took = x.clock(), time.Since(w.began)
	if err != nil {
		return fmt.Errorf("read the results: %w", err)
	}
	if w.news || len(w.next.runs) != len(x.shown.runs) || !slices.Equal(w.next.other, x.shown.other) {
		newest(w.next.runs)
		w.next.findings = sync.OnceValue(func() []*Finding { return findings(w.next.runs) })
		w.next.again = sync.OnceValue(func() map[*Run]*Run { return repeats(w.next.runs) })
		x.shown = w.next
	}
	return nil
}

func (x *index) walk() *walk {
	return &walk{index: x, known: x.shown.byID, now: x.clock(), began: time.Now(), next: blank(), left: perRound, campaigns: map[string]bool{}}
}

func blank() *snapshot {
	return &snapshot{byID: map[string]*Run{}, findings: func() []*Finding { return nil }, again: func() map[*Run]*Run { return nil }}
}

// walk is one look at all folders. One at a time is under way, and it alone changes what was checked when.
type walk struct {
	*index
	known     map[string]*Run
	now       time.Time
	began     time.Time // by the machine's clock
	next      *snapshot
	left      int // judged runs that may be looked at again
	campaigns map[string]bool
	news      bool // some run is new, or another than it was
}

func (w *walk) all() error { return w.folder(".", "", 0) }

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
			if r != w.known[p] {
				r.Of, w.news = of, true
			}
			w.next.byID[p] = r
			w.next.runs = append(w.next.runs, r)
			continue
		}
		if _, far := w.fsys.(files); far && depth == 0 && slices.Contains(campaign.Prefixes, e.Name()) {
			continue // a campaign's store: thousands of objects, and no run
		}
		if depth < deepest && (!w.campaigns[dir] || e.Name() == "runs") { // beside its runs, a campaign has thousands of files of its own
			_ = w.folder(p, w.kind(p, of), depth+1) // one that cannot be read has no runs
		}
	}
	return nil
}

// run returns the run in a folder, anew if it may have changed.
func (w *walk) run(dir string) *Run {
	r := w.known[dir]
	if r == nil {
		w.checked[dir] = w.now
		return readRun(w.fsys, dir, w.now)
	}
	switch {
	case r.State == UnderWay || r.State == Unreadable:
		return readRun(w.fsys, dir, w.now)
	case w.left > 0 && w.now.Sub(w.checked[dir]) > recheck:
		w.left--
		w.checked[dir] = w.now
		if stampOf(w.fsys, dir) != r.stamp || r.State == CutShort {
			return readRun(w.fsys, dir, w.now)
		}
	}
	return r
}

// kind takes note of a folder that holds many runs, and returns what runs below it belong to.
func (w *walk) kind(dir, of string) string {
	for _, k := range folderFiles {
		if info, err := fs.Stat(w.fsys, path.Join(dir, k[0])); err == nil {
			w.next.other = append(w.next.other, Folder{dir, k[1], info.ModTime()})
			w.campaigns[dir] = k[1] == "campaign"
			return dir
		}
	}
	return of
}
