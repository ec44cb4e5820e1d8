package campaign

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"recount/harness/batch"
	"recount/harness/estimate"
)

// The files of a campaign's folder. Beside them lie runs/, which has a folder for each kept run, and the store, unless that is
// elsewhere.
const (
	CampaignFile = "campaign.json"
	FindingsFile = "findings.json"
	CoverageFile = "coverage.jsonl"
	TrendsFile   = "trends.jsonl"
	ledgerFile   = "ledger.json"
	editions     = "editions" // folder of the summaries of all editions
)

// showEvery is how often a campaign under way is written down.
const showEvery = 5 * time.Second

// view writes what people and pages look at.
type view struct {
	folder  string
	ledger  *ledger
	covered int // runs at the last line of coverage
}

func openView(folder string) (*view, error) {
	v := &view{folder: folder, ledger: &ledger{}}
	if err := os.MkdirAll(filepath.Join(folder, editions), 0o755); err != nil {
		return nil, err
	}
	return v, v.ledger.read(filepath.Join(folder, ledgerFile))
}

// Covered is what so many runs have reached, and how likely it is that one more reaches something new.
type Covered struct {
	Runs   int     `json:"runs"`
	Keys   int     `json:"keys"`
	Chance float64 `json:"chance"`
	Low    float64 `json:"low"` // the bounds of the chance, with 95 % confidence
	High   float64 `json:"high"`
}

// show writes how the campaign stands.
func (w *runner) show(ctx context.Context, state State) error {
	w.shown = time.Now()
	_, err := w.write(state)
	if err == nil {
		err = w.copy.update(ctx)
	}
	return err
}

func (w *runner) write(state State) (*Summary, error) {
	s := w.summary(state, time.Now())
	err := errors.Join(
		putJSON(filepath.Join(w.Folder, CampaignFile), s.Head),
		putJSON(filepath.Join(w.Folder, FindingsFile), map[string]any{"findings": s.Findings}),
		putJSON(filepath.Join(w.Folder, editions, s.Edition+".json"), s),
		w.view.cover(s, state != Running),
	)
	if state != Running {
		err = errors.Join(err, w.view.ledger.write(filepath.Join(w.Folder, ledgerFile), s))
	}
	return s, err
}

// cover adds a line to the curve of what was reached.
func (v *view) cover(s *Summary, last bool) error {
	if s.Runs == v.covered || !last && s.Runs < v.covered+v.covered/20 {
		return nil
	}
	v.covered = s.Runs
	line := Covered{Runs: s.Runs}
	var all []estimate.Rate
	for _, t := range s.Targets {
		line.Keys += t.Keys
		all = append(all, t.Chance)
	}
	r := estimate.Pool(all...)
	line.Chance, line.Low, line.High = r.Share(), r.Low, r.High
	return appendJSON(filepath.Join(v.folder, CoverageFile), line)
}

// copyWithin is how long the copy of what a campaign has come to may take.
const copyWithin = 5 * time.Minute

// end writes what the campaign has come to, and failed, if anything did.
func (w *runner) end(ctx context.Context, failed error) (*Summary, error) {
	state, ended := Done, ctx.Err() != nil || failed != nil
	for _, s := range w.subjects {
		for _, done := range s.done {
			if !done && !w.budgeted {
				state = Stopped
			}
		}
	}
	var trends []Trend
	if state == Done && !ended {
		trends, failed = w.trends(ctx)
	}
	if ctx.Err() != nil || failed != nil {
		state, trends = Stopped, nil
	}
	if ctx.Err() != nil && errors.Is(failed, ctx.Err()) {
		failed = nil
	}
	w.failed = failed
	s, err := w.write(state)
	for _, t := range trends {
		err = errors.Join(err, appendJSON(filepath.Join(w.Folder, TrendsFile), t))
	}
	if err == nil {
		keep, stop := context.WithTimeout(context.WithoutCancel(ctx), copyWithin) // after Ctrl-C, too
		defer stop()
		err = w.copy.update(keep)
	}
	return s, errors.Join(failed, err)
}

func batchProgress(w *runner) batch.Progress {
	p := batch.Progress{Doing: w.campaign.Name, Passed: time.Since(w.begun)}
	for _, s := range w.subjects {
		p.Done += s.sum.Runs
		p.Planned += s.target.Runs
	}
	if w.made > 0 && p.Planned > 0 { // of what this process made; the rest was there
		p.Left = time.Duration(float64(p.Passed) * float64(p.Planned-p.Done) / float64(w.made))
	}
	if left := w.campaign.Budget - p.Passed; w.campaign.Budget > 0 && (p.Left == 0 || left < p.Left) {
		p.Left = max(left, 0)
	}
	return p
}

// ledger tells since when findings are known.
type ledger struct {
	Entries map[string]*entry `json:"entries"` // by target and signature
}

type entry struct {
	Finding
	Edition string `json:"edition"`        // that found it first, or first after it was gone
	Latest  string `json:"latest"`         // that found it last
	Gone    bool   `json:"gone,omitempty"` // a later one did not find it
}

// back reports whether an edition that found it again does so after one that did not. To tell again of the runs that found it last
// is not to find it again.
func (e *entry) back(s *Summary) bool { return e.Gone && e.Latest != s.Edition }

func (l *ledger) read(file string) error {
	l.Entries = map[string]*entry{}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, l)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	return nil
}

func key(f *Finding) string { return f.Target + ": " + f.Signature }

// stand tells which findings are new, and adds those that are gone.
func (l *ledger) stand(s *Summary, c *Campaign, now time.Time) {
	now = now.UTC().Truncate(time.Second)
	here := map[string]bool{}
	for i := range s.Findings {
		f := &s.Findings[i]
		here[key(f)] = true
		f.State, f.First, f.Last = New, now, now
		if e := l.Entries[key(f)]; e != nil {
			f.First = e.First
			if e.Latest == s.Edition {
				f.Last = e.Last // it is the same runs that are told of again
			}
			if e.Edition != s.Edition && !e.back(s) {
				f.State = Seen
			}
		}
		if f.Known = slices.ContainsFunc(c.Known, func(k Known) bool { return k.Target == f.Target && k.Property == f.Property }); f.Known {
			f.State = Seen
		}
	}
	if s.State == Running {
		return // nothing is gone before all was looked at
	}
	tested := map[string]bool{}
	for _, t := range s.Targets {
		tested[t.Target] = t.Runs > 0
	}
	for name, e := range l.Entries {
		if !here[name] && tested[e.Target] && s.State == Done {
			gone := e.Finding
			gone.State, gone.Runs = Gone, 0
			s.Findings = append(s.Findings, gone)
		}
	}
	order := []Standing{New, Seen, Gone}
	slices.SortStableFunc(s.Findings, func(a, b Finding) int {
		return cmp.Or(slices.Index(order, a.State)-slices.Index(order, b.State), b.Runs-a.Runs, cmp.Compare(a.Signature, b.Signature))
	})
}

// write takes down what was found.
func (l *ledger) write(file string, s *Summary) error {
	for _, f := range s.Findings {
		if f.State == Gone {
			l.Entries[key(&f)].Gone = true
			continue
		}
		e := l.Entries[key(&f)]
		if e == nil {
			e = &entry{Edition: s.Edition}
			l.Entries[key(&f)] = e
		}
		if e.back(s) {
			e.Edition, e.Gone = s.Edition, false
		}
		e.Finding, e.Latest = f, s.Edition
	}
	return putJSON(file, l)
}

// putJSON writes a file as a whole.
func putJSON(file string, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	part := fmt.Sprintf("%s.%d.part", file, os.Getpid())
	if err == nil {
		err = os.WriteFile(part, b.Bytes(), 0o644)
	}
	if err == nil {
		err = os.Rename(part, file)
	}
	if err != nil {
		os.Remove(part)
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}

// appendJSON adds a line to a file, in one piece.
func appendJSON(file string, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}
