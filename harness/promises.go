package harness

import (
	"slices"
	"sync"

	"recount/checkers"
	"recount/harness/record"
	"recount/history"
	"recount/targets"
)

// promised is what a run's target promises with the run's options, and what the nemesis took away of what that rests on.
type promised struct {
	target  *targets.Target
	options targets.Options
	setup   *history.Setup
	deeds   *deeds
	lapses  map[string]func() []checkers.Lapse // of each property that rests on something, worked out once
}

// promises returns what the run's target promises. What a target promises that is not known here, nobody knows.
func promises(r *record.Run) (p promised, known bool) {
	setup := r.Setup()
	if setup == nil {
		return promised{}, false
	}
	t, err := targetOf(r, setup.Target)
	if err != nil {
		return promised{}, false
	}
	t = t.On(setup.Cluster != record.OnSim, setup.Options)
	o, err := t.Parse(setup.Options)
	if err != nil {
		return promised{}, false
	}
	p = promised{t, o, setup, deedsOf(r.Frame()), map[string]func() []checkers.Lapse{}}
	for _, x := range t.Promises {
		if x.Suspended != nil {
			p.lapses[x.Property] = sync.OnceValue(func() []checkers.Lapse {
				return p.deeds.lapses(func(did history.Changes) bool { return t.Suspended(x.Property, did) }, setup.Bounds.Elect)
			})
		}
	}
	return p, true
}

// lapsed returns when nothing was promised of a property, for as long as something was in force, and an election may have taken after it.
func (p promised) lapsed(property string) []checkers.Lapse {
	if lapses := p.lapses[property]; lapses != nil {
		return lapses()
	}
	return nil
}

// of returns whether what a result tells of is promised, on which assumption, and whether the run took that away: then nothing is.
func (p promised) of(res *checkers.Result) (holds bool, while string, excused bool) {
	holds, while = p.target.Promised(p.options, res.Property)
	excused = p.tookAway(res)
	if res.Property == "fencing" && p.setup.Recorded {
		while, excused = "the resource refuses stale tokens", true
	}
	return holds && !excused, while, excused
}

// tookAway reports whether the nemesis took away what the promise rests on of which a result tells: for good, or, where it is known
// when the property broke, or may have, for a time that this was in.
func (p promised) tookAway(res *checkers.Result) bool {
	switch {
	case !p.target.MayExcuse(res.Property):
		return false
	case p.deeds.any(func(did history.Changes) bool { return p.target.Excused(res.Property, did) }):
		return true
	case res.Doubt != nil:
		return p.lapsedIn(res.Property, *res.Doubt)
	case res.Verdict != checkers.Invalid:
		return p.deeds.any(func(did history.Changes) bool { return p.target.Suspended(res.Property, did) })
	}
	return p.lapsedIn(res.Property, checkers.Lapse{From: res.From, To: res.To})
}

// lapsedIn reports whether nothing was promised of a property at an instant of a time.
func (p promised) lapsedIn(property string, when checkers.Lapse) bool {
	return slices.ContainsFunc(p.lapsed(property), func(l checkers.Lapse) bool { return l.Meets(when.From, when.To) })
}
