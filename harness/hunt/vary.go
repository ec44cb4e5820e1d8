package hunt

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"recount/harness/record"
	"recount/nemesis"
)

// maxSteps bounds schedules: long ones reach more and show less.
const maxSteps = 8

// vary returns a plan that is a little different from one that reached something new.
func (h *hunter) vary(p record.Plan, rnd *rand.Rand) (record.Plan, error) {
	p.Schedule = slices.Clone(p.Schedule)
	if rnd.IntN(4) > 0 {
		p.Seed = uint64(rnd.Uint32())
	}
	for range 1 + rnd.IntN(3) {
		if err := h.change(&p, rnd); err != nil {
			return p, err
		}
	}
	slices.SortStableFunc(p.Schedule, func(a, b nemesis.Step) int { return cmp.Compare(a.At, b.At) })
	return p, nil
}

// change makes one change.
func (h *hunter) change(p *record.Plan, rnd *rand.Rand) error {
	if len(p.Schedule) == 0 {
		return h.another(p, rnd)
	}
	k := rnd.IntN(len(p.Schedule))
	st := &p.Schedule[k]
	switch rnd.IntN(9) {
	case 0:
		p.Schedule = slices.Delete(p.Schedule, k, k+1)
	case 1:
		return h.another(p, rnd)
	case 2: // another fault at the same time
		s, err := h.steps(p, 1, rnd)
		if err != nil || len(s) == 0 {
			return err
		}
		at, hold := st.At, st.For
		*st = s[0]
		st.At, st.For = at, hold
	case 3: // as soon as another heals, or a silence later
		after := p.Schedule[rnd.IntN(len(p.Schedule))]
		st.At = after.At + after.For
		if rnd.IntN(2) == 0 {
			st.At += time.Duration(pick(brinks, rnd) * float64(h.bounds(p).Silence))
		}
	case 4:
		st.For, st.ForTimes = h.span(p, rnd), 0
	case 5:
		st.For = time.Duration(pick(brinks, rnd) * float64(st.For)).Round(time.Millisecond)
	case 6:
		st.At = time.Duration(pick([]float64{0.5, 0.9, 1.1, 1.5}, rnd) * float64(st.At)).Round(time.Millisecond)
	case 7: // aimed at somebody else
		if len(st.Nodes) > 0 {
			st.Nodes = slices.Clone(st.Nodes)
			st.Nodes[0] = pick([]string{"leader", "follower", "one", "old-leader"}, rnd)
		}
	case 8:
		p.Nodes = h.Nodes[0] + rnd.IntN(h.Nodes[1]-h.Nodes[0]+1)
		h.drawOptions(p, rnd)
	}
	return nil
}

// another adds steps, at a time of their own.
func (h *hunter) another(p *record.Plan, rnd *rand.Rand) error {
	s, err := h.steps(p, 1+rnd.IntN(2), rnd)
	room := maxSteps - len(p.Schedule)
	p.Schedule = append(p.Schedule, s[:min(len(s), room)]...)
	return err
}
