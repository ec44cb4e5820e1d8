package track

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"recount/checkers"
	"recount/harness"
	"recount/hint"
	"recount/history"
	"recount/nemesis"
	"recount/report"
)

// Long is a system to be run under mixed faults for long. No promise of it may break.
type Long struct {
	Name    string
	About   string // in words: "etcd 3.6"
	Target  string
	Options map[string]string
	Nodes   int
}

var longs []Long

func registerSoak(all ...Long) { longs = append(longs, all...) }

// Soaks returns the long runs of these names, or all if there are none.
func Soaks(wanted []string) ([]Long, error) {
	if len(wanted) == 0 {
		return longs, nil
	}
	var found []Long
	for _, n := range wanted {
		i := slices.IndexFunc(longs, func(l Long) bool { return l.Name == n })
		if i < 0 {
			var known []string
			for _, l := range longs {
				known = append(known, l.Name)
			}
			return nil, fmt.Errorf("track: %w", hint.Unknown("soak", n, known))
		}
		found = append(found, longs[i])
	}
	return found, nil
}

// Soak is what came of a long run.
type Soak struct {
	Name        string   `json:"name"`
	About       string   `json:"about"`
	Nodes       int      `json:"nodes"`
	Time        string   `json:"time"`
	Seed        uint64   `json:"seed"`
	Faults      int      `json:"faults"` // that took effect
	Leaderships int      `json:"leaderships"`
	Terms       int      `json:"terms"` // with a leader
	Broken      []string `json:"broken,omitempty"`
	Weak        []string `json:"weak,omitempty"`    // broken without having been promised
	Unknown     []string `json:"unknown,omitempty"` // promised, and not decided or not tested
	End         string   `json:"end"`               // "healthy", or what was wrong
}

// Soak makes a long run under faults that the seed draws from all there are.
func (l Long) Soak(ctx context.Context, d time.Duration, seed uint64, mk func(context.Context, harness.Plan) (*report.Run, error)) (Soak, error) {
	p := harness.Plan{Target: l.Target, Options: l.Options, On: harness.OnDocker, Nodes: l.Nodes, Time: d, Seed: seed}
	p.Faults = nemesis.Drawn()
	s := Soak{Name: l.Name, About: l.About, Nodes: l.Nodes, Time: d.String(), Seed: seed}
	r, err := mk(ctx, p)
	if err != nil {
		return s, err
	}
	for i := range r.History.Ops {
		if op := &r.History.Ops[i]; op.F == history.Inject && op.Type == history.OK {
			s.Faults++
		}
	}
	for _, v := range r.Verdicts {
		switch {
		case v.Verdict == checkers.Invalid && v.Promised:
			s.Broken = append(s.Broken, v.Property)
		case v.Verdict == checkers.Invalid:
			s.Weak = append(s.Weak, v.Property)
		case v.Verdict == checkers.Unknown && v.Promised:
			s.Unknown = append(s.Unknown, v.Property)
		}
		for _, f := range v.Figures {
			n, err := strconv.Atoi(f.Value)
			switch {
			case v.Property != "single-leader-per-term" || err != nil:
			case f.Name == "leaderships":
				s.Leaderships = n
			case f.Name == "terms with a leader":
				s.Terms = n
			}
		}
	}
	s.End = ending(r)
	return s, ctx.Err()
}

// ending says in what state the healed cluster was when it was asked for the last time.
func ending(r *report.Run) string {
	if !r.History.Complete() {
		return "cut short"
	}
	last := map[string]history.View{}
	var ended []string
	for i := range r.History.Ops {
		switch op := &r.History.Ops[i]; {
		case op.F == history.Exit:
			ended = append(ended, op.Node+" ended by itself")
		case op.F == history.Observe && op.Type == history.OK:
			last[op.Node] = op.View
		case op.F == history.Observe && op.Type == history.Fail:
			delete(last, op.Node)
		}
	}
	if len(ended) > 0 {
		return strings.Join(ended, ", ")
	}
	for _, n := range r.Nodes {
		v, first := last[n], last[r.Nodes[0]]
		switch {
		case v.Leader == "":
			return n + " knew no leader"
		case v.Leader != first.Leader:
			return fmt.Sprintf("%s and %s named different leaders", r.Nodes[0], n)
		case v.Term != first.Term:
			return fmt.Sprintf("%s and %s were in different terms", r.Nodes[0], n)
		}
	}
	return "healthy"
}

// Good reports whether no promise broke and the cluster was whole in the end.
func (s Soak) Good() bool { return len(s.Broken) == 0 && s.End == "healthy" }
