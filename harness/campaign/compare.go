package campaign

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"recount/harness"
	"recount/harness/estimate"
	"recount/internal/hint"
)

// Folder is where the campaigns of a results folder lie.
func Folder(results string) string { return filepath.Join(results, "campaigns") }

// List returns the latest summary of each campaign of a results folder, by name.
func List(results string) (all []*Summary, err error) {
	entries, err := os.ReadDir(Folder(results))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		s, err := read(filepath.Join(Folder(results), e.Name()))
		if err != nil {
			return all, err
		}
		if len(s) > 0 { // else there is only a store, or a Job that nobody has waited for
			all = append(all, s[0])
		}
	}
	return all, err
}

// Find returns what a campaign came to: name is that of its folder, or a path to one; behind an @ may follow which edition is
// meant: the beginning of its hash, or "previous".
func Find(results, name string) (*Summary, error) {
	name, which, _ := strings.Cut(name, "@")
	dir := name
	if !strings.ContainsRune(name, filepath.Separator) {
		dir = filepath.Join(Folder(results), name)
	}
	all, err := read(dir)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, harness.Usage(hint.Add(fmt.Errorf("no campaign %q in %s", name, Folder(results)), "recount campaign list shows them; recount campaign run FILE makes one"))
	}
	var known []string
	for i, s := range all {
		if which == "" || which == "previous" && i == 1 || which != "previous" && strings.HasPrefix(s.Edition, which) {
			return s, nil
		}
		known = append(known, fmt.Sprintf("%s@%.8s", name, s.Edition))
	}
	return nil, harness.Usage(hint.Add(fmt.Errorf("no edition %q of campaign %s", which, name), "there are %s", strings.Join(known, ", ")))
}

// read returns the summaries of all editions in a campaign's folder, the latest first.
func read(dir string) (all []*Summary, err error) {
	kept := filepath.Join(dir, editions)
	names, err := fs.Glob(os.DirFS(kept), "*.json") // brackets in the folder's own name are no pattern
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		file := filepath.Join(kept, name)
		s := &Summary{folder: dir}
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, s)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *Summary) int { return b.Started.Compare(a.Started) })
	return all, nil
}

// Comparison is what is different between what two campaigns, or two editions of one, came to.
type Comparison struct {
	A        Side     `json:"a"`
	B        Side     `json:"b"`
	Changes  []Change `json:"changes"`  // what is new first, then what is still there, then what is gone
	Untested []string `json:"untested"` // targets of A that B did not test: nothing of them is gone
	Status   int      `json:"status"`
}

// Side is one of two campaigns that are compared.
type Side struct {
	Name    string    `json:"name"`
	Edition string    `json:"edition"`
	Started time.Time `json:"started"`
	State   State     `json:"state"`
	Runs    int       `json:"runs"`
}

// Change is one finding on both sides.
type Change struct {
	Finding
	State  string        `json:"state"` // "new", "gone", "still there" or "perhaps there"
	Before estimate.Rate `json:"before"`
	After  estimate.Rate `json:"after"`
}

// The states of changes.
const (
	StillThere   = "still there"
	NewThere     = "new"
	GoneThere    = "gone"
	PerhapsThere = "perhaps there" // not found, but runs broke what is looked for in circumstances that were not shrunk
)

// Compare tells what B found that A did not, and the other way round. What is known to the file of B is not new.
func Compare(a, b *Summary) *Comparison {
	c := &Comparison{A: a.side(), B: b.side(), Changes: []Change{}, Untested: []string{}}
	before, after := a.found(), b.found()
	for name, f := range after {
		ch := Change{Finding: f, State: NewThere, After: estimate.Of(f.Runs, f.Of), Before: estimate.Of(0, a.looked(f.Target).Runs)}
		if old, was := before[name]; was {
			ch.State, ch.Before = StillThere, estimate.Of(old.Runs, old.Of)
		} else if !f.Known {
			c.Status = 1
		}
		c.Changes = append(c.Changes, ch)
	}
	for name, f := range before {
		if _, is := after[name]; is {
			continue
		}
		t := b.looked(f.Target)
		if t.Runs == 0 {
			c.Untested = append(c.Untested, f.Target)
			continue
		}
		ch := Change{Finding: f, State: GoneThere, Before: estimate.Of(f.Runs, f.Of), After: estimate.Of(0, t.Runs)}
		if t.Unshrunk > 0 {
			ch.State = PerhapsThere
		}
		c.Changes = append(c.Changes, ch)
	}
	order := []string{NewThere, StillThere, PerhapsThere, GoneThere}
	slices.SortFunc(c.Changes, func(x, y Change) int {
		return cmp.Or(slices.Index(order, x.State)-slices.Index(order, y.State), cmp.Compare(x.Target, y.Target), cmp.Compare(x.Signature, y.Signature))
	})
	slices.Sort(c.Untested)
	c.Untested = slices.Compact(c.Untested)
	return c
}

func (s *Summary) side() Side { return Side{s.Name, s.Edition, s.Started, s.State, s.Runs} }

// found are the findings that are there, by target and signature.
func (s *Summary) found() map[string]Finding {
	all := map[string]Finding{}
	for _, f := range s.Findings {
		if f.State != Gone {
			all[key(&f)] = f
		}
	}
	return all
}

// looked is how much of a target was tested; nothing of one that is not there.
func (s *Summary) looked(target string) Looked {
	for _, t := range s.Targets {
		if t.Target == target {
			return t
		}
	}
	return Looked{}
}
