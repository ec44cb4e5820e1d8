package hunt

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"recount/harness"
	"recount/harness/record"
	"recount/history"
	"recount/internal/seed"
	"recount/nemesis"
)

// plan decides on run number k: something new, or what comes of plans that reached something new.
func (h *hunter) plan(k int) (record.Plan, error) {
	rnd := seed.New(h.Seed, fmt.Sprintf("hunt run %d", k))
	s := h.swarm(k)
	parent := h.corpus.pick(rnd)
	for range 20 {
		var p record.Plan
		var err error
		switch {
		case parent == nil || rnd.IntN(2) == 0:
			p, err = h.draw(s, rnd)
		case rnd.IntN(4) == 0:
			p = splice(*parent, *h.corpus.pick(rnd), rnd)
		default:
			p, err = h.vary(*parent, s, rnd)
		}
		if err != nil {
			return p, err
		}
		atServers(&p, harness.Pace(h.target, &p).Diskless)
		if harness.Check(p) == nil && len(p.Schedule) > 0 {
			return p, nil
		}
	}
	p, err := h.draw(s, rnd)
	if err == nil {
		atServers(&p, harness.Pace(h.target, &p).Diskless)
		err = harness.Check(p)
	}
	return p, err
}

// atServers has faults of disks be of servers where nodes have no disk, whomever they were aimed at.
func atServers(p *record.Plan, diskless bool) {
	if !diskless {
		return
	}
	p.Schedule = slices.Clone(p.Schedule)
	for i := range p.Schedule {
		st := &p.Schedule[i]
		if f, err := nemesis.Find(st.Fault); err != nil || !f.Disks || f.Events || len(st.Nodes) == 0 {
			continue
		}
		switch st.Nodes[0] {
		case "server", "servers":
		case "all", "majority", "minority":
			st.Nodes = nemesis.Named{"servers"}
		default:
			st.Nodes = nemesis.Named{"server"}
		}
	}
}

// draw returns a plan that has nothing to do with any before.
func (h *hunter) draw(s swarm, rnd *rand.Rand) (p record.Plan, err error) {
	p = record.Plan{
		Target: h.Target, On: h.On, Workloads: s.workloads, Seed: uint64(rnd.Uint32()), Nodes: pick(h.sizes, rnd),
	}
	h.drawOptions(&p, rnd)
	h.drawGoroutines(&p, rnd)
	h.focus = ""
	if len(h.kinds) > 0 && rnd.IntN(2) == 0 {
		h.focus = pick(h.kinds, rnd)
	}
	if p.On == record.OnVirtual && rnd.IntN(3) > 0 {
		if p.Schedule = h.turmoil(&p, rnd); len(p.Schedule) > 0 {
			sortSteps(p.Schedule)
			return p, nil
		}
	}
	p.Schedule, err = h.steps(&p, s.faults, 1+rnd.IntN(4), rnd)
	if !h.form(&p, rnd) && err == nil {
		err = h.surround(&p, s, rnd)
	}
	sortSteps(p.Schedule)
	return p, err
}

// sortSteps brings the steps of a schedule into the order of their times.
func sortSteps(s nemesis.Schedule) {
	slices.SortStableFunc(s, func(a, b nemesis.Step) int { return cmp.Compare(a.At, b.At) })
}

// surround has the last fault last, or others last beside all that there are.
func (h *hunter) surround(p *record.Plan, s swarm, rnd *rand.Rand) error {
	if k := len(p.Schedule) - 1; k >= 0 && rnd.IntN(4) == 0 {
		p.Schedule[k].For, p.Schedule[k].ForTimes = 0, 0 // until the run ends
	}
	if len(s.lasting) > 0 && rnd.IntN(4) > 0 {
		behind, err := h.lasting(p, s, 1+rnd.IntN(2), rnd)
		if err != nil {
			return err
		}
		p.Schedule = append(p.Schedule, behind...)
	}
	if len(h.edges) > 0 && h.draws("clock-drift") && rnd.IntN(4) == 0 {
		p.Schedule = append(h.apart(rnd), p.Schedule...)
	}
	return nil
}

// draws reports whether faults are among those to draw from.
func (h *hunter) draws(faults ...string) bool {
	return !slices.ContainsFunc(faults, func(name string) bool { return !slices.Contains(h.Faults, name) })
}

// lasting draws faults that are there for long, while others come and go.
func (h *hunter) lasting(p *record.Plan, s swarm, count int, rnd *rand.Rand) (all nemesis.Schedule, err error) {
	for range count {
		one, err := h.steps(p, s.lasting, 1, rnd)
		if err != nil {
			return nil, err
		}
		for _, st := range one {
			st.At, st.After, st.Wait, st.ForTimes = min(st.At, h.span(p, rnd)), "", 0, 0
			if st.For = 0; rnd.IntN(2) == 0 {
				st.For = (p.Time - st.At) / time.Duration(1+rnd.IntN(3))
			}
			all = append(all, st)
		}
	}
	return all, nil
}

func (h *hunter) drawOptions(p *record.Plan, rnd *rand.Rand) {
	p.Options = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(h.Options)) {
		values := h.Options[name]
		p.Options[name] = values[rnd.IntN(len(values))]
	}
	if p.Time = h.Time; p.Time == 0 {
		silence := h.bounds(p).Silence
		usual := min(max(40*silence, 10*time.Second), longest)
		p.Time = max(time.Duration(pick([]float64{0.4, 0.6, 1}, rnd)*float64(usual)), record.RoomFor(1, silence)).Round(time.Second)
	}
}

// longest is how long a run is at most, but for one fault that is to fit in: of short runs there are more.
const longest = time.Minute

// drawGoroutines draws the order of goroutines, where there is one: half of the time the first, which is the simplest.
func (h *hunter) drawGoroutines(p *record.Plan, rnd *rand.Rand) {
	if len(h.Goroutines) == 0 {
		return
	}
	if p.Goroutines = h.Goroutines[0]; rnd.IntN(2) == 0 {
		p.Goroutines = pick(h.Goroutines, rnd)
	}
	if p.Goroutines == record.Orders[0] {
		p.Goroutines = "" // as plans have it that do not say
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

// moments are how long after another a fault comes that is to meet what that one has begun, in silences of the target, or how long
// one lasts that is to be over before others have noticed.
var moments = []float64{0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1, 1.2}

func pick[T any](from []T, rnd *rand.Rand) T { return from[rnd.IntN(len(from))] }

// span draws a time.
func (h *hunter) span(p *record.Plan, rnd *rand.Rand) time.Duration {
	return time.Duration(pick(spans, rnd) * pick(nemesis.Brinks, rnd) * float64(h.bounds(p).Silence)).Round(time.Millisecond)
}

// steps draws a few steps of a schedule.
func (h *hunter) steps(p *record.Plan, faults []string, count int, rnd *rand.Rand) (nemesis.Schedule, error) {
	if rnd.IntN(2) == 0 {
		faults = []string{pick(faults, rnd), pick(faults, rnd)}
	}
	silence := h.bounds(p).Silence
	pace := harness.Pace(h.target, p)
	pace.Within, pace.Silence = p.Time-2*silence, silence
	pace.Gap, pace.Hold = h.span(p, rnd), h.span(p, rnd)
	s, err := nemesis.Generate(faults, pace, rnd)
	s = s[:min(count, len(s))]
	for i := range s {
		switch {
		case s[i].ForTimes != 0:
		case rnd.IntN(2) == 0:
			s[i].For = h.span(p, rnd)
		case rnd.IntN(3) == 0:
			s[i].For = max(time.Duration(pick(moments, rnd)*float64(silence)).Round(time.Millisecond), time.Millisecond)
		}
		if rnd.IntN(4) == 0 {
			aim(&s[i], rnd)
		}
		h.sharpen(&s[i], p, rnd)
		s = append(s, h.beside(s[i], rnd)...)
		if h.target.Store != 0 && len(s[i].Nodes) > 0 && rnd.IntN(4) == 0 {
			s[i].Nodes = slices.Clone(s[i].Nodes)
			s[i].Nodes[rnd.IntN(len(s[i].Nodes))] = h.target.Store.String()
		}
	}
	return s, err
}

// beside returns what tells more together with a step than the step alone; mostly nothing.
func (h *hunter) beside(st nemesis.Step, rnd *rand.Rand) nemesis.Schedule {
	if st.Fault != "crash-within" || !h.draws("hold-message") || rnd.IntN(2) == 0 {
		return nil
	}
	// What comes to a node when it has just started again finds it with what it has kept.
	st.Fault, st.Nodes = "hold-message", nemesis.Named{"all", "all"}
	st.After, st.Wait = "", 0
	st.With = map[string]string{
		"kind": cmp.Or(st.With["kind"], "any"), "nth": strconv.Itoa(1 + rnd.IntN(2)), "count": strconv.Itoa(1 + rnd.IntN(3)), "until": "start",
	}
	return nemesis.Schedule{st}
}

// apart has all clocks run too fast, and that of the leader too slow, or the other way round, by what just takes no promise away.
func (h *hunter) apart(rnd *rand.Rand) nemesis.Schedule {
	by := pick(h.edges, rnd)
	if rnd.IntN(4) == 0 {
		by = -by
	}
	return nemesis.Schedule{{
		Fault: "clock-drift", Nodes: nemesis.Named{pick([]string{"leader", "leader", "one"}, rnd)},
		With: map[string]string{"by": percent(-by), "apart": "true"},
	}}
}

// unending is a count that befalls all messages of a fault's time.
const unending = "10000"

// percent writes a drift, finely enough for one that is just allowed.
func percent(drift float64) string { return fmt.Sprintf("%.5f%%", 100*drift) }

// aims are the words for whom a fault may hit.
var aims = []string{"leader", "follower", "one", "old-leader", "minority", "majority", "all"}

// aim aims a step at somebody else, also at several nodes at once, as a power failure is; after a vote at who gave it or got it.
func aim(st *nemesis.Step, rnd *rand.Rand) {
	if f, err := nemesis.Find(st.Fault); err != nil || f.Events || f.Asks || len(st.Nodes) == 0 {
		return
	}
	st.Nodes = slices.Clone(st.Nodes)
	if st.Nodes[0] = pick(aims, rnd); st.After == nemesis.Voted {
		st.Nodes[0] = pick([]string{"voter", "candidate"}, rnd)
	}
}

// set gives a parameter of a step's fault another value. Other steps may have been drawn with the same.
func set(st *nemesis.Step, name, value string) {
	st.With = maps.Collect(maps.All(st.With))
	st.With[name] = value
}

// sharpen fits a step to what is known of the target: the kinds of its messages, and how far its promises go.
func (h *hunter) sharpen(st *nemesis.Step, p *record.Plan, rnd *rand.Rand) {
	f, err := nemesis.Find(st.Fault)
	if err != nil {
		panic(err) // it was drawn from the registry
	}
	switch {
	case f.Events && h.On != record.OnSim:
		for name, value := range h.blind(st.Fault, p, rnd).With {
			set(st, name, value)
		}
		st.For = max(st.For, time.Duration((2+rnd.IntN(6)))*h.bounds(p).Silence)
	case f.Events:
		if len(h.kinds) > 0 && rnd.IntN(6) > 0 {
			set(st, "kind", cmp.Or(h.focus, pick(h.kinds, rnd)))
		}
		if _, waits := st.With["until"]; waits && len(h.kinds) > 0 {
			switch rnd.IntN(6) {
			case 0, 1:
				set(st, "until", pick(h.kinds, rnd))
			case 2:
				set(st, "until", history.UntilElected)
			}
		}
		switch {
		case len(f.Aims) == 1:
			st.Nodes = nemesis.Named{pick([]string{"all", "all", "leader", "follower", "one"}, rnd)}
		default:
			st.Nodes = pick([]nemesis.Named{{"all", "all"}, {"all", "all"}, {"leader", "others"}, {"follower", "others"}, {"one", "one"}, {"follower", "leader"}, {"all", "leader"}}, rnd)
			if rnd.IntN(8) == 0 { // all for a while: a leader may hear nobody whom all hear
				set(st, "nth", "1")
				set(st, "count", unending)
			}
		}
		if st.With["count"] != unending && rnd.IntN(3) > 0 {
			st.For = max(st.For, time.Duration((2+rnd.IntN(10)))*h.bounds(p).Silence) // it needs time to happen
		}
	case st.Fault == "clock-drift":
		sign := 1.0
		if rnd.IntN(2) == 0 {
			sign = -1
		}
		set(st, "by", percent(sign*h.drift(rnd)))
		if rnd.IntN(3) == 0 {
			set(st, "apart", "true")
		}
	case st.Fault == "lose-writes":
		h.leave(st, rnd)
	case st.With["delay"] != "" && rnd.IntN(2) == 0: // also longer than a term lasts
		silence := float64(h.bounds(p).Silence)
		d := time.Duration(silence * math.Exp(rnd.Float64()*math.Log(60)) / 20)
		set(st, "delay", max(d, time.Millisecond).Round(time.Millisecond).String())
	}
}
