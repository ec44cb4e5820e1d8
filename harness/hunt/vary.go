package hunt

import (
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"recount/harness/record"
	"recount/nemesis"
)

// maxSteps bounds schedules: long ones reach more and show less.
const maxSteps = 8

// vary returns a plan that is a little different from one that reached something new.
func (h *hunter) vary(p record.Plan, s swarm, rnd *rand.Rand) (record.Plan, error) {
	p.Schedule = slices.Clone(p.Schedule)
	if rnd.IntN(4) > 0 {
		p.Seed = uint64(rnd.Uint32())
	}
	for range 1 + rnd.IntN(3) {
		if err := h.change(&p, s, rnd); err != nil {
			return p, err
		}
	}
	if len(h.Goroutines) > 0 && rnd.IntN(8) == 0 {
		h.drawGoroutines(&p, rnd)
	}
	sortSteps(p.Schedule)
	return p, nil
}

// change makes one change.
func (h *hunter) change(p *record.Plan, s swarm, rnd *rand.Rand) error {
	if len(p.Schedule) == 0 {
		return h.another(p, s, rnd)
	}
	k := rnd.IntN(len(p.Schedule))
	st := &p.Schedule[k]
	switch rnd.IntN(12) {
	case 0:
		p.Schedule = slices.Delete(p.Schedule, k, k+1)
	case 1:
		return h.another(p, s, rnd)
	case 2: // another fault at the same time
		s, err := h.steps(p, s.faults, 1, rnd)
		if err != nil || len(s) == 0 {
			return err
		}
		at, hold := st.At, st.For
		*st = s[0]
		st.At, st.For = at, hold
	case 3: // as soon as another heals, or a silence later; or soon after that one comes
		after := p.Schedule[rnd.IntN(len(p.Schedule))]
		silence := float64(h.bounds(p).Silence)
		switch rnd.IntN(4) {
		case 0:
			st.At = after.At + after.For
		case 1:
			st.At = after.At + after.For + time.Duration(pick(nemesis.Brinks, rnd)*silence)
		default:
			st.At = after.At + time.Duration(pick(moments, rnd)*silence).Round(time.Millisecond)
		}
	case 4:
		st.For, st.ForTimes = h.span(p, rnd), 0
	case 5:
		st.For = time.Duration(pick(nemesis.Brinks, rnd) * float64(st.For)).Round(time.Millisecond)
	case 6:
		st.At = time.Duration(pick([]float64{0.5, 0.9, 1.1, 1.5}, rnd) * float64(st.At)).Round(time.Millisecond)
	case 7: // aimed at somebody else
		if f, err := nemesis.Find(st.Fault); err == nil && f.Events {
			h.sharpen(st, p, rnd)
		} else {
			aim(st, rnd)
		}
	case 8:
		p.Nodes = pick(h.sizes, rnd)
		h.drawOptions(p, rnd)
	case 9: // what it is told, once more
		*st = again(*st)
		h.sharpen(st, p, rnd)
	case 10: // the same until then, and another end: see splice
		p.Schedule = slices.DeleteFunc(p.Schedule, func(o nemesis.Step) bool { return o.At > st.At })
		return h.another(p, s, rnd)
	case 11: // something else meanwhile
		if len(s.lasting) > 0 && len(p.Schedule) < maxSteps {
			more, err := h.lasting(p, s, 1, rnd)
			p.Schedule = append(p.Schedule, more...)
			return err
		}
	}
	return nil
}

// another adds steps, at a time of their own.
func (h *hunter) another(p *record.Plan, w swarm, rnd *rand.Rand) error {
	s, err := h.steps(p, w.faults, 1+rnd.IntN(2), rnd)
	room := max(0, maxSteps-len(p.Schedule))
	p.Schedule = append(p.Schedule, s[:min(len(s), room)]...)
	return err
}

// again returns a step whose options are its own.
func again(st nemesis.Step) nemesis.Step {
	st.With = maps.Clone(st.With)
	if st.With == nil {
		st.With = map[string]string{}
	}
	return st
}

// splice returns a plan that begins as one that reached something new, and goes on as another one did. With the seed and the
// cluster of the first, all is the same up to there.
func splice(a, b record.Plan, rnd *rand.Rand) record.Plan {
	cut := time.Duration(rnd.Int64N(int64(a.Time) + 1))
	p := a
	p.Schedule = nil
	for _, st := range a.Schedule {
		if st.At <= cut {
			p.Schedule = append(p.Schedule, st)
		}
	}
	for _, st := range b.Schedule {
		if st.At > cut && len(p.Schedule) < maxSteps {
			p.Schedule = append(p.Schedule, st)
		}
	}
	sortSteps(p.Schedule)
	return p
}
