package shrink

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"recount/harness/record"
	"recount/nemesis"
)

// What is tried, from what takes away most to what only reads better. Each pass leaves the best plan as it is or makes it
// simpler, never more complex, so that repeating them comes to an end.

// passes tries all once.
func (s *shrinker) passes() {
	s.often(s.calm)
	s.steps()
	s.nodes()
	s.trimmings()
	s.goroutines()
	s.gauge()
	s.often(func() {
		s.faults()
		s.words()
		s.settings()
		s.times()
		s.order()
	})
}

// order puts the steps in the order of their times.
func (s *shrinker) order() {
	byTime := func(a, b nemesis.Step) int { return cmp.Compare(a.At, b.At) }
	if !slices.IsSortedFunc(s.best.Schedule, byTime) {
		s.try(s.with(func(p *record.Plan) { slices.SortStableFunc(p.Schedule, byTime) }))
	}
}

// with returns the best plan with its own copy of the schedule, changed by f.
func (s *shrinker) with(f func(p *record.Plan)) record.Plan {
	p := s.best
	p.Schedule = slices.Clone(p.Schedule)
	f(&p)
	return p
}

// kinds leaves out all faults of one name, and then all that are aimed at the same.
func (s *shrinker) kinds() {
	for _, kind := range []func(st nemesis.Step) string{
		func(st nemesis.Step) string { return st.Fault },
		func(st nemesis.Step) string { return strings.Join(st.Nodes, " ") },
	} {
		count := map[string]int{}
		for _, st := range s.best.Schedule {
			count[kind(st)]++
		}
		for _, name := range slices.Sorted(maps.Keys(count)) {
			if count[name] > 1 { // what is alone comes with the steps
				s.try(s.with(func(p *record.Plan) {
					p.Schedule = slices.DeleteFunc(p.Schedule, func(st nemesis.Step) bool { return kind(st) == name })
				}))
			}
		}
	}
}

// steps leaves out faults: many at once, then fewer, then each.
func (s *shrinker) steps() {
	for size := len(s.best.Schedule); size > 0; size /= 2 {
		for i := 0; i < len(s.best.Schedule) && s.going(); {
			end := min(i+size, len(s.best.Schedule))
			if !s.try(s.with(func(p *record.Plan) { p.Schedule = slices.Delete(p.Schedule, i, end) })) {
				i = end
			}
		}
	}
}

// nodes takes the smallest cluster that does.
func (s *shrinker) nodes() {
	for n := s.Fewest; n < s.best.Nodes; n++ {
		if s.try(s.with(func(p *record.Plan) { p.Nodes = n })) {
			return
		}
	}
}

// trimmings leaves out workloads, and options of the target and of faults.
func (s *shrinker) trimmings() {
	for _, w := range slices.Clone(s.best.Workloads) {
		s.try(s.with(func(p *record.Plan) {
			p.Workloads = slices.DeleteFunc(slices.Clone(p.Workloads), func(o string) bool { return o == w })
		}))
	}
	for _, name := range slices.Sorted(maps.Keys(s.best.Options)) {
		if slices.Contains(s.Pinned, name) {
			continue
		}
		s.try(s.with(func(p *record.Plan) { p.Options = without(p.Options, name) }))
	}
	for i := range s.best.Schedule {
		for _, name := range slices.Sorted(maps.Keys(s.best.Schedule[i].With)) {
			s.try(s.with(func(p *record.Plan) { p.Schedule[i].With = without(p.Schedule[i].With, name) }))
		}
	}
}

// goroutines takes the simplest order of goroutines that does.
func (s *shrinker) goroutines() {
	if s.best.Goroutines == "" {
		return
	}
	for _, name := range record.Orders {
		if name == s.best.Goroutines {
			return
		}
		if name == record.Orders[0] {
			name = "" // as plans have it that do not say
		}
		if s.try(s.with(func(p *record.Plan) { p.Goroutines = name })) {
			return
		}
	}
}

func without(m map[string]string, name string) map[string]string {
	m = maps.Clone(m)
	delete(m, name)
	if len(m) == 0 {
		return nil
	}
	return m
}

// simple are the faults that others are tried to be replaced by, the simplest first. One of them is only replaced by
// those before it.
var simple = []string{"cut-link", "cut-one-way", "restart", "kill", "pause", "isolate", "crash"}

// faults replaces faults by simpler ones.
func (s *shrinker) faults() {
	for i := range s.best.Schedule {
		for _, name := range simple {
			if name == s.best.Schedule[i].Fault {
				break
			}
			f, err := nemesis.Find(name)
			if err != nil {
				panic(err) // a test finds them all
			}
			aims := [][]string{s.best.Schedule[i].Nodes, nil} // as before, or as the new fault has it
			if slices.ContainsFunc(aims, func(words []string) bool {
				return s.try(s.with(func(p *record.Plan) { become(&p.Schedule[i], f, words) })) ||
					// What is simpler may take longer to tell.
					s.try(s.with(func(p *record.Plan) {
						become(&p.Schedule[i], f, words)
						p.Time *= 3
					}))
			}) {
				break
			}
		}
	}
}

// become makes a step one of another fault, aimed by these words as far as they suit it.
func become(st *nemesis.Step, f *nemesis.Fault, words []string) {
	words = slices.Clone(words[:min(len(words), len(f.Aims))])
	for i, w := range words {
		if w == "others" || w == "all" || w == "minority" || w == "majority" {
			words[i] = f.Aims[i].Default
		}
	}
	for _, a := range f.Aims[len(words):] {
		words = append(words, a.Default)
	}
	st.Fault, st.Nodes, st.With = f.Name, words, nil
}

// telling are the words that say more than others, the most telling first.
var telling = []string{"leader", "follower", "old-leader", "one"}

// words aims at somebody in particular, and waits for nothing that it need not wait for.
func (s *shrinker) words() {
	for i := range s.best.Schedule {
		if s.best.Schedule[i].After != "" {
			s.try(s.with(func(p *record.Plan) {
				p.Schedule[i].After, p.Schedule[i].Wait, p.Schedule[i].Times = "", 0, 0
			}))
		}
		if st := s.best.Schedule[i]; st.Wait > 0 || st.Times > 0 {
			s.try(s.with(func(p *record.Plan) { p.Schedule[i].Wait, p.Schedule[i].Times = 0, 0 }))
		}
		for k := range s.best.Schedule[i].Nodes {
			for _, w := range telling {
				if w == s.best.Schedule[i].Nodes[k] {
					break
				}
				if s.try(s.with(func(p *record.Plan) {
					p.Schedule[i].Nodes = slices.Clone(p.Schedule[i].Nodes)
					p.Schedule[i].Nodes[k] = w
				})) {
					break
				}
			}
		}
	}
}
