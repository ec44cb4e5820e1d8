package bugs

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"recount/checkers"
	"recount/harness"
	"recount/harness/record"
	"recount/history"
	"recount/internal/hint"
	"recount/targets"
)

// SoakSystem is a system to be run under mixed faults for long. No promise of it may break.
type SoakSystem struct {
	Name    string
	About   string // in words: "etcd 3.6"
	Target  string
	Options map[string]string
	Nodes   int
	Without []string // faults that are left out
	Because string   // of what
}

var soakSystems []SoakSystem

func registerSoak(all ...SoakSystem) { soakSystems = append(soakSystems, all...) }

// Soaks returns the long runs of these names, or all if there are none.
func Soaks(wanted []string) ([]SoakSystem, error) {
	if len(wanted) == 0 {
		return soakSystems, nil
	}
	var found []SoakSystem
	for _, n := range wanted {
		i := slices.IndexFunc(soakSystems, func(l SoakSystem) bool { return l.Name == n })
		if i < 0 {
			var known []string
			for _, l := range soakSystems {
				known = append(known, l.Name)
			}
			return nil, hint.Unknown("soak", n, known)
		}
		found = append(found, soakSystems[i])
	}
	return found, nil
}

// Soak is what came of a long run.
type Soak struct {
	Name        string   `json:"name"`
	About       string   `json:"about"`
	Nodes       int      `json:"nodes"`
	Time        string   `json:"time"`
	Without     []string `json:"without,omitempty"` // faults that were left out
	Because     string   `json:"because,omitempty"` // of what
	Seed        uint64   `json:"seed"`
	Faults      int      `json:"faults"` // that took effect
	Leaderships int      `json:"leaderships"`
	Terms       int      `json:"terms"` // with a leader; 0 where the election has none
	Broken      []string `json:"broken,omitempty"`
	Weak        []string `json:"weak,omitempty"`    // broken without having been promised
	Unknown     []string `json:"unknown,omitempty"` // promised and tested, and not decided
	Ended       []string `json:"ended,omitempty"`   // nodes that ended by themselves, as over a disk that fails: "n1", "n2 3 times"
	End         string   `json:"end"`               // "healthy", or what was wrong
}

// Soak makes a long run under faults that the seed draws from all there are but Without.
func (l SoakSystem) Soak(ctx context.Context, d time.Duration, seed uint64, mk func(context.Context, record.Plan) (*record.Run, error)) (Soak, error) {
	p := record.Plan{Target: l.Target, Options: l.Options, On: record.OnDocker, Nodes: l.Nodes, Time: d, Seed: seed}
	t, err := targets.Find(l.Target)
	if err != nil {
		return Soak{}, err
	}
	p.Workloads = harness.Applicable([]string{"fence"}, t)
	p.Faults = slices.DeleteFunc(harness.Drawn(l.Target, l.Options, record.OnDocker), func(f string) bool { return slices.Contains(l.Without, f) })
	s := Soak{Name: l.Name, About: l.About, Nodes: l.Nodes, Time: d.String(), Seed: seed, Without: l.Without, Because: l.Because}
	r, err := mk(ctx, p)
	if err != nil {
		return s, err
	}
	for i := range r.History.Ops {
		if op := &r.History.Ops[i]; op.F == history.Inject && op.Type == history.OK {
			s.Faults++
		}
	}
	for i := range r.Verdicts {
		switch v := &r.Verdicts[i]; v.Meaning() {
		case record.Broken:
			s.Broken = append(s.Broken, v.Property)
		case record.Weakness, record.Excused:
			s.Weak = append(s.Weak, v.Property)
		case record.Undecided:
			s.Unknown = append(s.Unknown, v.Property)
		}
	}
	s.Leaderships = number(r, "exclusive-leadership", "leaderships")
	s.Terms = number(r, "single-leader-per-term", "terms with a leader")
	s.Ended = endings(r)
	s.End = ending(r)
	return s, ctx.Err()
}

// number returns how many things a figure of a property counts, 0 where it has none of that name.
func number(r *record.Run, property, figure string) int {
	for _, v := range r.Verdicts {
		for _, f := range v.Figures {
			if v.Property == property && f.Name == figure && f.Unit == checkers.Things {
				return int(f.Number)
			}
		}
	}
	return 0
}

// endings lists the nodes that ended by themselves.
func endings(r *record.Run) (list []string) {
	times := map[string]int{}
	for i := range r.History.Ops {
		if op := &r.History.Ops[i]; op.F == history.Exit && op.Fault == nil {
			times[op.Node]++
		}
	}
	for _, n := range slices.Sorted(maps.Keys(times)) {
		if times[n] > 1 {
			n = fmt.Sprintf("%s %d times", n, times[n])
		}
		list = append(list, n)
	}
	return list
}

// ending says in what state the healed cluster was when it was asked for the last time.
func ending(r *record.Run) string {
	if !r.History.Complete() {
		return "cut short"
	}
	last := map[string]history.View{}
	for i := range r.History.Ops {
		switch op := &r.History.Ops[i]; {
		case op.F == history.Observe && op.Type == history.OK:
			last[op.Node] = op.View
		case op.F == history.Observe && op.Type == history.Fail || op.F == history.Exit:
			delete(last, op.Node)
		}
	}
	var first string // of the nodes that have a part in the election
	for _, n := range r.Nodes {
		v := last[n]
		switch {
		case v.Role == history.Server:
			continue
		case v.Leader == "":
			return n + " knew no leader"
		case first == "":
			first = n
		case v.Leader != last[first].Leader:
			return fmt.Sprintf("%s and %s named different leaders", first, n)
		case v.Term != last[first].Term:
			return fmt.Sprintf("%s and %s were in different terms", first, n)
		}
	}
	return "healthy"
}

// Good reports whether no promise broke and the cluster was whole in the end.
func (s Soak) Good() bool { return len(s.Broken) == 0 && s.End == "healthy" }
