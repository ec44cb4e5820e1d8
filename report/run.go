// Package report is what people see of a run: a table on the terminal, a page with a picture of the run's time, a file
// for CI, an object for scripts. All of it is made from what a run leaves on disk, so it can be made again later.
package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"recount/checkers"
	"recount/history"
	"recount/internal/hint"
)

// Run is one run with all that is to be reported of it.
type Run struct {
	Dir     string            `json:"-"`       // the run's folder; "" for a history without one
	From    string            `json:"-"`       // the folder of a run that is judged again, and whose reports stay as they are
	Title   string            `json:"title"`   // the scenario, or the target where there is none
	Target  string            `json:"target"`  // the election under test
	Cluster string            `json:"cluster"` // "sim" or "docker"
	Options map[string]string `json:"options,omitempty"`
	Seed    uint64            `json:"seed"`
	Nodes   []string          `json:"nodes"`
	Started time.Time         `json:"started"` // by the calendar; nothing is judged by it
	Took    time.Duration     `json:"took"`    // real time from start to verdicts
	Status  int               `json:"status"`  // what the command exits with
	Repeat  string            `json:"repeat"`  // the command that repeats the run
	Notes   []string          `json:"notes,omitempty"`
	Version string            `json:"version,omitempty"` // of Recount
	// Plan is what whoever made the run wants to find again: the schedule as asked for. Reports keep it as it is.
	Plan json.RawMessage `json:"plan,omitempty"`

	History  *history.History `json:"-"`
	Verdicts []Verdict        `json:"-"`
}

// Verdict is a checker's result and what is at stake with it.
type Verdict struct {
	checkers.Result
	Promised bool   `json:"promised"`
	While    string `json:"while,omitempty"` // the assumption that the promise rests on; "" is none
	// Excused says that the run took that assumption away, so that nothing is promised in it.
	Excused bool `json:"excused,omitempty"`
	// Expect is what the scenario says will come of it; Unknown where it says nothing.
	Expect checkers.Verdict `json:"expect,omitzero"`
}

// Setup returns what the history tells about the cluster, or nil.
func (r *Run) Setup() *history.Setup {
	if r.History == nil {
		return nil
	}
	return r.History.Setup()
}

// broken reports whether v fails its run.
func (v *Verdict) broken() bool { return v.Verdict == checkers.Invalid && v.Promised && !v.met() }

// met reports whether the scenario expected something and it happened; missed, that something else did.
func (v *Verdict) met() bool    { return v.Expect != checkers.Unknown && v.Expect == v.Verdict }
func (v *Verdict) missed() bool { return v.Expect != checkers.Unknown && v.Expect != v.Verdict }

// fails reports whether v decides that the run failed.
func (v *Verdict) fails() bool { return v.broken() || v.missed() && v.Verdict != checkers.Unknown }

// open reports whether v leaves undecided what the run was to decide.
func (v *Verdict) open() bool {
	return v.Verdict == checkers.Unknown && (v.Promised && !v.Untested || v.missed())
}

// ranked returns the verdicts as people should meet them: what fails the run, other violations, promises that could not
// be decided, what holds, what nobody tested.
func (r *Run) ranked() []*Verdict {
	rank := func(v *Verdict) int {
		switch {
		case v.broken():
			return 0
		case v.missed():
			return 1
		case v.Verdict == checkers.Invalid && v.met():
			return 2
		case v.Verdict == checkers.Invalid:
			return 3
		case v.Verdict == checkers.Unknown && v.Promised && !v.Untested:
			return 4
		case v.Verdict == checkers.Valid:
			return 5
		}
		return 6
	}
	vs := make([]*Verdict, len(r.Verdicts))
	for i := range r.Verdicts {
		vs[i] = &r.Verdicts[i]
	}
	slices.SortStableFunc(vs, func(a, b *Verdict) int { return rank(a) - rank(b) })
	return vs
}

// The files of a run's folder that belong to this package.
const (
	runFile      = "run.json"
	historyFile  = "history.jsonl"
	compressed   = ".gz" // follows it where the history is compressed
	verdictsFile = "verdicts.json"
	reproFile    = "repro"
	pageFile     = "report.html"
	textFile     = "report.txt"
	junitFile    = "junit.xml"
	pictureFile  = "timeline.svg"
	drawings     = "porcupine"
	nodeLogs     = "nodes"
)

// Page returns where the run's report lies.
func (r *Run) Page() string { return filepath.Join(r.Dir, pageFile) }

// Save writes what is known of a run that begins, so that a run that gets killed can be told apart and repeated.
func Save(r *Run) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("report: encode the run: %w", err)
	}
	return r.put(map[string][]byte{runFile: append(b, '\n'), reproFile: []byte(r.Repeat + "\n")})
}

// Write writes all reports into the run's folder. The history is there already.
func Write(r *Run) error {
	verdicts, err := json.MarshalIndent(r.Verdicts, "", "  ")
	if err != nil {
		return fmt.Errorf("report: encode the verdicts: %w", err)
	}
	if err := Save(r); err != nil {
		return err
	}
	files := map[string][]byte{verdictsFile: append(verdicts, '\n')}
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; len(v.Drawing) > 0 {
			files[filepath.Join(drawings, v.Property+".html")] = v.Drawing
		}
	}
	if err := r.put(files); err != nil { // before the page, which links to the drawings that are there
		return err
	}
	reports := map[string][]byte{}
	for name, write := range map[string]func(io.Writer, *Run) error{
		textFile: plainText, junitFile: JUnit, pictureFile: SVG, pageFile: HTML,
	} {
		var b bytes.Buffer
		if err := write(&b, r); err != nil {
			return err
		}
		reports[name] = b.Bytes()
	}
	return r.put(reports)
}

func (r *Run) put(files map[string][]byte) error {
	for name, b := range files {
		path := filepath.Join(r.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("report: %w", err)
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			return fmt.Errorf("report: %w", err)
		}
	}
	return nil
}

// Read reads a run back from its folder. A history that was cut off is read as far as it goes, and a note says so; a run
// that was never judged has no verdicts.
func Read(dir string) (*Run, error) {
	r, err := Outline(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = hint.Add(err, "a run's folder has a %s; the newest one is results/latest", runFile)
		}
		return nil, err
	}
	f, err := os.Open(filepath.Join(dir, historyFile))
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.Open(filepath.Join(dir, historyFile+compressed))
	}
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	defer f.Close()
	h, err := history.Parse(f)
	if errors.Is(err, history.ErrCut) {
		if note := fmt.Sprintf("the history was cut off after %d ops", len(h.Ops)); !slices.Contains(r.Notes, note) {
			r.Notes = append(r.Notes, note)
		}
		h, err = history.New(h.Ops)
	}
	if err != nil {
		return nil, fmt.Errorf("report: %s: %w", f.Name(), err)
	}
	r.History = h
	if err := r.get(verdictsFile, &r.Verdicts); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return r, nil
}

// Outline reads what Save wrote: a run without its history and its verdicts.
func Outline(dir string) (*Run, error) {
	r := &Run{Dir: dir}
	return r, r.get(runFile, r)
}

func (r *Run) get(name string, v any) error {
	path := filepath.Join(r.Dir, name)
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("report: read %s: %w", path, err)
	}
	return nil
}
