package hunt

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"recount/harness"
	"recount/harness/record"
	"recount/history"
	"recount/internal/seed"
	"recount/nemesis"
)

// plan decides on run number k: something new, or a variation of a plan that reached something new.
func (h *hunter) plan(k int) (record.Plan, error) {
	rnd := seed.New(h.Seed, fmt.Sprintf("hunt run %d", k))
	parent := h.corpus.pick(rnd)
	for range 20 {
		var p record.Plan
		var err error
		if parent != nil && rnd.IntN(2) == 0 {
			p, err = h.vary(*parent, rnd)
		} else {
			p, err = h.draw(rnd)
		}
		if err != nil {
			return p, err
		}
		if harness.Check(p) == nil && len(p.Schedule) > 0 {
			return p, nil
		}
	}
	p, err := h.draw(rnd)
	if err == nil {
		err = harness.Check(p)
	}
	return p, err
}

// draw returns a plan that has nothing to do with any before.
func (h *hunter) draw(rnd *rand.Rand) (p record.Plan, err error) {
	p = record.Plan{
		Target: h.Target, On: h.On, Workloads: h.Workloads, Seed: uint64(rnd.Uint32()),
		Nodes: h.Nodes[0] + rnd.IntN(h.Nodes[1]-h.Nodes[0]+1),
	}
	h.drawOptions(&p, rnd)
	p.Schedule, err = h.steps(&p, 1+rnd.IntN(4), rnd)
	if k := len(p.Schedule) - 1; k >= 0 && rnd.IntN(4) == 0 {
		p.Schedule[k].For, p.Schedule[k].ForTimes = 0, 0 // until the run ends
	}
	return p, err
}

func (h *hunter) drawOptions(p *record.Plan, rnd *rand.Rand) {
	p.Options = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(h.Options)) {
		values := h.Options[name]
		p.Options[name] = values[rnd.IntN(len(values))]
	}
	if p.Time = h.Time; p.Time == 0 {
		silence := h.bounds(p).Silence
		// At the least, one fault fits in: see harness.Check.
		p.Time = max(min(max(40*silence, 10*time.Second), time.Minute), 18*silence).Round(time.Second)
	}
}

// bounds are those of the target with a plan's options.
func (h *hunter) bounds(p *record.Plan) history.Bounds {
	o, err := h.target.Parse(p.Options)
	if err != nil {
		panic(err) // all values were checked
	}
	return h.target.Bounds(o)
}

// spans are how long faults last, and how far they are apart, in silences of the target. Elections break where
// a fault lasts about as long as they wait for each other, or long enough that they give up waiting.
var spans = []float64{0.5, 1, 1, 2, 3, 5, 8, 13}

// brinks are what makes of a time that two timers race for, one before and one after.
var brinks = []float64{0.9, 1, 1.1}

func pick[T any](from []T, rnd *rand.Rand) T { return from[rnd.IntN(len(from))] }

// span draws a time.
func (h *hunter) span(p *record.Plan, rnd *rand.Rand) time.Duration {
	return time.Duration(pick(spans, rnd) * pick(brinks, rnd) * float64(h.bounds(p).Silence)).Round(time.Millisecond)
}

// steps draws a few steps of a schedule.
func (h *hunter) steps(p *record.Plan, count int, rnd *rand.Rand) (nemesis.Schedule, error) {
	faults := h.Faults
	if rnd.IntN(2) == 0 {
		faults = []string{pick(faults, rnd), pick(faults, rnd)}
	}
	silence := h.bounds(p).Silence
	pace := nemesis.Pace{Within: p.Time - 2*silence, Gap: h.span(p, rnd), Hold: h.span(p, rnd), Silence: silence}
	s, err := nemesis.Generate(faults, pace, rnd)
	s = s[:min(count, len(s))]
	for i := range s {
		if s[i].ForTimes == 0 && rnd.IntN(2) == 0 {
			s[i].For = h.span(p, rnd)
		}
	}
	return s, err
}
