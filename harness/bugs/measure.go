package bugs

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"recount/checkers"
	"recount/harness/batch"
	"recount/harness/record"
	"recount/report"
	"recount/targets"
)

// Count is what came of the runs of one side of a row.
type Count struct {
	Row     string `json:"row"`
	About   string `json:"about"`
	Control bool   `json:"control"`
	Key     string `json:"key"` // of what was run: a count of other runs than the row's says nothing of the row
	// Named is the key of what the row says of its runs, where a file of Recount's folder says the rest: all that is known elsewhere.
	Named string `json:"named,omitempty"`

	Shown   int `json:"shown"`   // the property broke
	Held    int `json:"held"`    // it held, and was put to the test
	Unknown int `json:"unknown"` // it was not decided
	Failed  int `json:"failed"`  // there was no run to judge: an image that could not be built, a server that ended by itself

	Also map[string]int `json:"also,omitempty"` // runs in which that property broke

	Seed uint64 `json:"seed,omitempty"` // the first that showed it
	Why  string `json:"why,omitempty"`  // and what was seen then
	// Problem is what the first run that failed failed of.
	Problem string `json:"problem,omitempty"`
}

// Runs is how many runs were counted.
func (c Count) Runs() int { return c.Shown + c.Held + c.Unknown + c.Failed }

// What a run may come to.
const (
	shown   = "shown"
	held    = "held"
	unknown = "unknown"
	failed  = "failed"
)

// Outcome is what one run came to.
type Outcome struct {
	Row     Row
	About   string
	Control bool
	Run     *record.Run // nil where there was none
	Word    string
	Why     string
}

// Surprising reports whether the run is not what the row says: a person will want to look at it.
func (o Outcome) Surprising() bool { return o.Control != (o.Word == held) }

// Measurer makes the runs of rows.
type Measurer struct {
	Runs int    // of each side, with the seeds from 1
	On   string // measures only the sides that run there; "" for all
	// Make makes one run, on containers or in simulation as its plan says.
	Make func(ctx context.Context, p record.Plan) (*record.Run, error)
	// Tell is told what each run came to.
	Tell func(o Outcome)
}

// Measure makes all runs of a row, one after the other. When ctx ends, so does it, with ctx's error: a row is measured
// as a whole or not at all. It is an error, too, if not one run could be made.
func (m Measurer) Measure(ctx context.Context, r Row) ([]Count, error) {
	var counts []Count
	var why error // the first run could not be made, if no run could
	made := false
	sides, err := r.sides()
	if err != nil {
		return nil, err
	}
	for _, side := range sides {
		if m.On != "" && m.On != side.on {
			continue
		}
		key, err := r.key(side)
		if err != nil {
			return nil, err
		}
		named, err := r.named(side)
		if err != nil {
			return nil, err
		}
		c := Count{Row: r.Name, About: side.About, Control: side.control, Key: key, Named: named}
		plans, err := r.plans(side, m.Runs)
		if err != nil {
			return nil, err
		}
		b := batch.Batch[record.Plan, *record.Run]{Do: m.Make, Jobs: 1, Ordered: true}
		for d := range b.Each(ctx, slices.Values(plans)) {
			run, err := d.Result, d.Err
			if made = made || err == nil; why == nil {
				why = err
			}
			if ctx.Err() != nil {
				break
			}
			o := Outcome{Row: r, About: side.About, Control: side.control, Run: run}
			o.Word, o.Why = judge(run, err, r.Property)
			c.add(o, d.Job.Seed)
			for _, property := range r.Also {
				if word, _ := judge(run, err, property); word == shown {
					if c.Also == nil {
						c.Also = map[string]int{}
					}
					c.Also[property]++
				}
			}
			m.Tell(o)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		counts = append(counts, c)
	}
	if !made && why != nil {
		return nil, why
	}
	return counts, nil
}

func (c *Count) add(o Outcome, seed uint64) {
	switch o.Word {
	case shown:
		if c.Shown++; c.Shown == 1 {
			c.Seed, c.Why = seed, o.Why
		}
	case held:
		c.Held++
	case unknown:
		c.Unknown++
	default:
		if c.Failed++; c.Failed == 1 {
			c.Problem = o.Why
		}
	}
}

// judge says what a run came to. A server that ended by itself, and for no reason that a fault gave it, has crashed, which is another
// bug than the row's.
func judge(run *record.Run, err error, property string) (word, why string) {
	if err == nil && run == nil {
		err = errors.New("no run")
	}
	if err != nil {
		return failed, err.Error()
	}
	if up := run.Verdict(targets.StaysUp); up != nil && up.Verdict == checkers.Invalid && property != targets.StaysUp {
		return failed, up.Why
	}
	v := run.Verdict(property)
	switch {
	case v == nil:
		return failed, "nobody judged " + property
	case v.Verdict == checkers.Invalid:
		return shown, v.Why
	case v.Verdict == checkers.Valid && run.Flaw == record.Flawless:
		return held, v.Why
	case v.Verdict == checkers.Valid:
		return unknown, report.Sentence(run)
	}
	return unknown, v.Why
}

// key names what a side's runs are: they are other runs when their plan changes, or the property. What the scenario
// expects of them decides nothing about how they go.
func (r Row) key(c side) (string, error) {
	p, err := r.plan(c, 0)
	if err != nil {
		return "", err
	}
	p.Scenario, p.Expect, p.Require, p.Shows = "", nil, nil, nil // none of them changes what is run
	return r.hash(struct {
		Property string
		Plan     record.Plan
	}{r.Property, p})
}

// named is the key of what a row says of a side's runs, and of the file with their schedule; "" where there is none.
func (r Row) named(c side) (string, error) {
	if r.File == "" {
		return "", nil
	}
	return r.hash(struct {
		Property, File, Target, On string
		Options                    map[string]string
		Workloads                  []string
	}{r.Property, r.File, cmp.Or(c.Target, r.target()), c.on, c.Options, c.Workloads})
}

func (r Row) hash(v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("row %s: encode its plan: %w", r.Name, err)
	}
	sum := sha256.Sum256(b)
	return fmt.Sprintf("%x", sum[:12]), nil
}

// Reliable reports whether a row shows where it should, in at least four of five runs, and nowhere else.
func Reliable(counts []Count) bool {
	for _, c := range counts {
		if c.Control && (c.Shown > 0 || c.Held == 0) || !c.Control && 5*c.Shown < 4*c.Runs() {
			return false
		}
	}
	return len(counts) > 0
}
