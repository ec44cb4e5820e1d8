package campaign

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"recount/harness"
	"recount/harness/hunt"
	"recount/harness/record"
	"recount/internal/count"
	"recount/internal/hint"
)

// Which runs did not start: they show nothing about what is promised, and may be a bug of the server's.

// Size is how clusters of one size came up.
type Size struct {
	Nodes   int             `json:"nodes"`
	Started int             `json:"started,omitempty"`
	Failed  int             `json:"failed,omitempty"`   // a node ended before it was ready, or was not ready in time
	LeftOut int             `json:"left_out,omitempty"` // runs of a shard by whose others no cluster of the size starts
	Why     string          `json:"why,omitempty"`      // of the one that failed and has the smallest seed
	Plan    json.RawMessage `json:"plan,omitempty"`     // of that one, a record.Plan
	Seed    uint64          `json:"seed,omitempty"`     // of that one
}

// sizes are how clusters came up, by their sizes.
type sizes map[int]*Size

// note takes up a run.
func (all *sizes) note(t hunt.Trial, of Subject) (err error) {
	z := Size{Nodes: t.Plan.Nodes}
	switch {
	case t.LeftOut:
		z.LeftOut = 1
	case t.Unstarted != nil:
		z.Failed, z.Why, z.Seed = 1, hint.Line(t.Unstarted), t.Plan.Seed
		z.Plan, err = json.Marshal(of.stored(t.Plan))
	default:
		z.Started = 1
	}
	all.join(z)
	return err
}

// givenUp reports whether none of the size starts.
func (z *Size) givenUp() bool { return z != nil && harness.Hopeless(z.Started, z.Failed) }

// before puts those that failed in an order: whose seed is the smallest, for it does not matter then which came first. Plans may share one.
func (z *Size) before(o *Size) bool {
	return cmp.Or(cmp.Compare(z.Seed, o.Seed), cmp.Compare(z.Nodes, o.Nodes), bytes.Compare(z.Plan, o.Plan)) < 0
}

// join adds how clusters of a size came up elsewhere.
func (all *sizes) join(other Size) {
	if *all == nil {
		*all = sizes{}
	}
	z := (*all)[other.Nodes]
	if z == nil {
		(*all)[other.Nodes] = &other
		return
	}
	if other.Failed > 0 && (z.Failed == 0 || other.before(z)) {
		z.Why, z.Plan, z.Seed = other.Why, other.Plan, other.Seed
	}
	z.Started += other.Started
	z.Failed += other.Failed
	z.LeftOut += other.LeftOut
}

func (all sizes) sorted() (list []Size) {
	for _, nodes := range slices.Sorted(maps.Keys(all)) {
		list = append(list, *all[nodes])
	}
	return list
}

// started is how many of the runs did.
func (s *Sum) started() int {
	n := s.Runs
	for _, z := range s.Sizes {
		n -= z.Failed + z.LeftOut
	}
	return n
}

// Unstarted are runs of a target whose nodes did not come up, of sizes of which others did, and one of them.
type Unstarted struct {
	Runs   int    `json:"runs"`
	Nodes  int    `json:"nodes"`
	Seed   uint64 `json:"seed"`
	Why    string `json:"why"`
	Run    string `json:"run,omitempty"` // the kept run, below the campaign's folder
	Repeat string `json:"repeat,omitempty"`
	Unkept string `json:"unkept,omitempty"` // why it is not kept
}

// GivenUp is a size of which no cluster started.
type GivenUp struct {
	Nodes   int    `json:"nodes"`
	Runs    int    `json:"runs"`     // that did not start
	LeftOut int    `json:"left_out"` // that were not made
	Why     string `json:"why"`
}

func (u *Unstarted) words() []string {
	all := []string{fmt.Sprintf("%s did not start, one of them with %s, seed %d: %s", count.Of(u.Runs, "run"), count.Of(u.Nodes, "node"), u.Seed, u.Why)}
	if u.Repeat != "" {
		all = append(all, "it is kept, and repeated by: "+u.Repeat)
	}
	if u.Unkept != "" {
		all = append(all, "it is not kept: "+u.Unkept)
	}
	return all
}

func (g *GivenUp) words() string {
	return fmt.Sprintf("no cluster of %s started, in %s; %d more were left out: %s", count.Of(g.Nodes, "node"), count.Of(g.Runs, "run"), g.LeftOut, g.Why)
}

// lost is what this process has seen of runs of a subject that did not start.
type lost struct {
	runs   int
	first  []lostRun // of each size
	unkept error
}

type lostRun struct {
	plan   record.Plan
	failed *harness.Unstarted
}

func (l *lostRun) nodes() int { return l.plan.Nodes }

// missed takes up a run that may not have started. What it says of an ended hunt no result does.
func (s *subject) missed(t hunt.Trial) {
	if t.Unstarted == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost.runs++
	if !slices.ContainsFunc(s.lost.first, func(l lostRun) bool { return l.nodes() == t.Plan.Nodes }) {
		s.lost.first = append(s.lost.first, lostRun{t.Plan, t.Unstarted})
	}
}

// seen is a run that did not start as this process has seen it: of so many nodes if there is one, or else of another size of which some
// do; nil if there is none.
func (s *subject) seen(nodes int) (found *lostRun) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.lost.first {
		l := &s.lost.first[i]
		if l.nodes() == nodes {
			return l
		}
		if found == nil && !s.sum.Sizes[l.nodes()].givenUp() {
			found = l
		}
	}
	return found
}

// unstarted is the run to be kept of those that did not start, and how many they are; nil if all did, besides those of sizes that are
// given up. Where the campaign has failed it may be one that no result tells of: too few runs of a shard started, and it has none.
func (s *subject) unstarted(campaignFailed bool) (z *Size, runs int) {
	for _, other := range s.sum.Sizes {
		if other.Failed == 0 || other.givenUp() {
			continue
		}
		if runs += other.Failed; z == nil || other.before(z) {
			z = other
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if campaignFailed && z == nil && len(s.lost.first) > 0 {
		l := s.lost.first[0]
		if plan, err := json.Marshal(l.plan); err == nil {
			return &Size{Nodes: l.nodes(), Why: hint.Line(l.failed), Plan: plan, Seed: l.plan.Seed}, s.lost.runs
		}
	}
	return z, runs
}

// unstartedRun is where a run is kept that did not start, below the campaign's folder.
func (s *subject) unstartedRun() string { return "runs/" + hash([]string{s.id, "did not start"})[:12] }

// keepUnstarted keeps a run that did not start, with what its nodes wrote: on containers one of this process, in virtual time the one that
// the results tell of. One that is kept already stays.
func (s *subject) keepUnstarted(ctx context.Context, folder string, campaignFailed bool) {
	z, _ := s.unstarted(campaignFailed)
	dir := filepath.Join(folder, s.unstartedRun())
	if _, err := os.Stat(dir); err == nil || z == nil {
		return
	}
	if ctx.Err() != nil && s.target.repeats() {
		return // it takes a run: whoever goes on keeps it
	}
	l := &lostRun{failed: &harness.Unstarted{}}
	if s.target.repeats() {
		l.plan, s.lost.unkept = s.plan(z.Plan)
	} else {
		l = s.seen(z.Nodes)
	}
	if l == nil || s.lost.unkept != nil { // nil where another process has seen it, and kept it where that was
		return
	}
	err := harness.KeepUnstartedAs(ctx, l.plan, l.failed, dir, hunt.Repeat(dir, l.plan.Seed))
	if ctx.Err() == nil { // else whoever goes on keeps it
		s.lost.unkept = err
	}
}

// didNotStart tells of the runs that did not start, and of sizes that are given up.
func (s *subject) didNotStart(folder string, campaignFailed bool) (u *Unstarted, given []GivenUp) {
	if z, runs := s.unstarted(campaignFailed); z != nil {
		u = &Unstarted{Runs: runs, Nodes: z.Nodes, Seed: z.Seed, Why: z.Why}
		dir := filepath.Join(folder, s.unstartedRun())
		if kept, err := record.Outline(dir); err == nil {
			u.Run, u.Repeat = s.unstartedRun(), kept.Repeat
			if n := len(kept.Notes); n > 0 && kept.Seed != u.Seed { // on containers, the one that this folder's process has seen
				u.Nodes, u.Seed, u.Why = kept.Plan.Nodes, kept.Seed, kept.Notes[n-1]
			}
		} else if s.lost.unkept != nil {
			u.Unkept = hint.Line(s.lost.unkept)
		}
	}
	for _, z := range s.sum.Sizes {
		if z.givenUp() {
			given = append(given, GivenUp{z.Nodes, z.Failed, z.LeftOut, z.Why})
		}
	}
	slices.SortFunc(given, func(a, b GivenUp) int { return cmp.Compare(a.Nodes, b.Nodes) })
	return u, given
}
