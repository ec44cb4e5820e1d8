package campaign

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"recount/harness/estimate"
	"recount/internal/hint"
	"recount/internal/whole"
)

// The files of a campaign's folder. Beside them lie runs/, which has a folder for each kept run, and the store, unless that is
// elsewhere.
const (
	CampaignFile = "campaign.json"
	FindingsFile = "findings.json"
	CoverageFile = "coverage.jsonl"
	TrendsFile   = "trends.jsonl"
	ClusterFile  = "cluster.json" // where it runs, if at a cluster: of this machine alone
	ledgerFile   = "ledger.json"
	editions     = "editions" // folder of the summaries of all editions
)

// showEvery is how often a campaign under way is written down.
const showEvery = 5 * time.Second

// view writes what people and pages look at.
type view struct {
	folder string
	ledger *ledger
}

func openView(folder string) (*view, error) {
	v := &view{folder: folder, ledger: &ledger{}}
	if err := os.MkdirAll(filepath.Join(folder, editions), 0o755); err != nil {
		return nil, err
	}
	return v, v.ledger.read(filepath.Join(folder, ledgerFile))
}

// took is how long an edition took until now.
func (v *view) took(edition string) (time.Duration, error) {
	all, err := read(v.folder)
	for _, s := range all {
		if s.Edition == edition {
			return s.Took, err
		}
	}
	return 0, err
}

// Covered is what so many runs have reached, and how likely it is that one more reaches something new.
type Covered struct {
	Edition string  `json:"edition"`
	Runs    int     `json:"runs"`
	Keys    int     `json:"keys"`
	Chance  float64 `json:"chance"`
	Low     float64 `json:"low"` // the bounds of the chance, with 95 % confidence
	High    float64 `json:"high"`
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
		putJSON(filepath.Join(w.Folder, CampaignFile), struct {
			Head
			Targets []Looked `json:"targets"`
		}{s.Head, s.Targets}),
		putJSON(filepath.Join(w.Folder, FindingsFile), map[string]any{"findings": s.Findings}),
		putJSON(filepath.Join(w.Folder, editions, s.Edition+".json"), s),
		w.view.cover(s, state != Running),
	)
	if state != Running {
		err = errors.Join(err, w.view.ledger.write(filepath.Join(w.Folder, ledgerFile), s))
	}
	return s, err
}

// cover adds a line to the curve of what was reached: after each twentieth more runs, and at the end. The curve is the edition's; that
// of another makes room for it.
func (v *view) cover(s *Summary, last bool) error {
	file := filepath.Join(v.folder, CoverageFile)
	curve, err := readRows[Covered](file)
	if err != nil {
		return err
	}
	curve = slices.DeleteFunc(curve, func(c Covered) bool { return c.Edition != s.Edition })
	before := 0
	for _, c := range curve {
		before = max(before, c.Runs)
	}
	if s.Runs <= before || !last && s.Runs < before+before/20 {
		return nil
	}
	line := Covered{Edition: s.Edition, Runs: s.Runs}
	var all []estimate.Rate
	for _, t := range s.Targets {
		line.Keys += t.Keys
		all = append(all, t.Chance)
	}
	r := estimate.Pool(all...)
	line.Chance, line.Low, line.High = r.Share(), r.Low, r.High
	return putRows(file, append(curve, line))
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
	if errors.Is(failed, syscall.ENOSPC) && hint.Of(failed) == "" {
		failed = hint.Add(failed, "make room, or name other --results; what was done is kept, and the same command goes on")
	}
	w.failed = failed
	for _, s := range w.subjects {
		s.keepUnstarted(ctx, w.Folder, failed != nil)
	}
	s, err := w.write(state)
	err = errors.Join(err, putTrends(filepath.Join(w.Folder, TrendsFile), trends))
	if err == nil {
		keep, stop := context.WithTimeout(context.WithoutCancel(ctx), copyWithin) // after Ctrl-C, too
		defer stop()
		err = w.copy.update(keep)
	}
	return s, cmp.Or(failed, err) // one tells what is wrong: the other is most likely to come of it
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
		err = l.parse(text)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	return nil
}

// parse reads what write has written; what is null in a file that somebody has mended is not there.
func (l *ledger) parse(text []byte) error {
	err := json.Unmarshal(text, l)
	if l.Entries == nil {
		l.Entries = map[string]*entry{}
	}
	maps.DeleteFunc(l.Entries, func(_ string, e *entry) bool { return e == nil })
	return err
}

// join adds what the ledger of another machine tells: of each finding when the first of them found it, and what came of it last.
func (l *ledger) join(other *ledger) {
	for name, o := range other.Entries {
		e := l.Entries[name]
		if e == nil {
			l.Entries[name] = o
			continue
		}
		last := *e
		if o.Last.After(e.Last) {
			last = *o
		} else if o.Last.Equal(e.Last) { // one of them has looked for it since
			last.Gone = e.Gone || o.Gone
		}
		if last.First = e.First; o.First.Before(e.First) {
			last.First = o.First
		}
		l.Entries[name] = &last
	}
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
		if f.Known = c.knows(f.Target, f.Property); f.Known {
			f.State = Seen
		}
	}
	if s.State == Running {
		return // nothing is gone before all was looked at
	}
	tested := map[string]int{} // runs
	for _, t := range s.Targets {
		if t.Unshrunk == 0 { // else it may be among what was not shrunk
			tested[t.Target] = t.Runs
		}
	}
	for name, e := range l.Entries {
		switch {
		case here[name] || tested[e.Target] == 0 || s.State != Done:
		case e.Edition == s.Edition: // told before all of its runs were made, from which something else came
			delete(l.Entries, name)
		default:
			gone := e.Finding
			gone.State, gone.Runs, gone.Unseen = Gone, 0, tested[e.Target]
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
		e := l.Entries[key(&f)]
		if f.State == Gone {
			if e != nil { // by who has edited the ledger it may be called otherwise
				e.Gone = true
			}
			continue
		}
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
	return putFile(file, &b, e.Encode(v))
}

// putRows writes a file of lines, one for each row, as a whole.
func putRows[T any](file string, rows []T) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	var err error
	for _, row := range rows {
		err = errors.Join(err, e.Encode(row))
	}
	return putFile(file, &b, err)
}

func putFile(file string, text *bytes.Buffer, err error) error {
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return whole.Write(file, text.Bytes())
}

// readRows reads what putRows has written, all lines that are whole; a file that is not there has none.
func readRows[T any](file string) (rows []T, err error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for line := range bytes.Lines(text) {
		var row T
		if json.Unmarshal(line, &row) == nil {
			rows = append(rows, row)
		}
	}
	return rows, err
}
