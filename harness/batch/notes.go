package batch

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"recount/internal/whole"
)

// NotesFile is where work under way notes in its folder how far it is.
const NotesFile = "progress.json"

// Noted is what it notes. Durations are nanoseconds.
type Noted struct {
	Kind     string        `json:"kind"` // "hunt", "matrix" or "campaign"
	Name     string        `json:"name"`
	Command  string        `json:"command"`
	Started  time.Time     `json:"started"`
	Took     time.Duration `json:"took"`
	Runs     int           `json:"runs"`
	Planned  int           `json:"planned"` // 0 if nobody knows
	Left     time.Duration `json:"left"`    // 0 if nobody knows
	Findings int           `json:"findings"`
	// Reached is how many different things runs have reached, over runs: a point a note, thinned as they become many.
	Reached []Reached `json:"reached,omitempty"`
}

// Reached is a point of a curve.
type Reached struct {
	Runs int `json:"runs"`
	Keys int `json:"keys"`
}

// Notes notes how far work is, for whoever looks on: recount serve does. What cannot be noted is left out, since work does not fail for
// who looks on. It is not safe for concurrent use.
type Notes struct {
	Noted
	dir  string
	made []string // folders that were not there before
	last time.Time
}

const (
	noteEvery = time.Second
	mostNoted = 400 // points
)

// NewNotes notes into a folder, which is made with the first note: work that takes no time leaves nothing behind.
func NewNotes(dir string, n Noted) *Notes {
	n.Started = time.Now()
	return &Notes{Noted: n, dir: dir, last: n.Started}
}

// Note notes how far work is, at most once a second. keys is what runs have reached, or 0.
func (n *Notes) Note(p Progress, findings, keys int) {
	if time.Since(n.last) < noteEvery {
		return
	}
	n.last = time.Now()
	n.Took, n.Runs, n.Planned, n.Left, n.Findings = time.Since(n.Started), p.Done, p.Planned, p.Left, findings
	if keys > 0 {
		n.Reached = append(n.Reached, Reached{p.Done, keys})
	}
	if len(n.Reached) > mostNoted {
		thin := n.Reached[:0]
		for i := 0; i < len(n.Reached); i += 2 {
			thin = append(thin, n.Reached[i])
		}
		n.Reached = thin
	}
	n.write()
}

func (n *Notes) write() {
	b, err := json.Marshal(n.Noted)
	if err != nil {
		return
	}
	for dir := n.dir; ; dir = filepath.Dir(dir) { // the innermost first
		if _, err := os.Stat(dir); err == nil {
			break
		}
		n.made = append(n.made, dir)
	}
	_ = whole.Write(filepath.Join(n.dir, NotesFile), b) // the next note may be
}

// End takes the note away, and the folders that were made for it, unless there is something else in them.
func (n *Notes) End() {
	os.Remove(filepath.Join(n.dir, NotesFile))
	for _, dir := range n.made {
		os.Remove(dir)
	}
}
