package checkers

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"recount/history"
	"recount/internal/count"
)

// How results put numbers, times, nodes and faults into words.

// lasted writes how long something took: "61 ms", "24.1 s".
func lasted(d time.Duration) string {
	switch {
	case d == 0:
		return "0 s"
	case d < 10*time.Millisecond:
		return strconv.FormatFloat(float64(d.Round(100*time.Microsecond))/1e6, 'f', -1, 64) + " ms"
	case d < time.Second:
		return strconv.FormatInt(d.Round(time.Millisecond).Milliseconds(), 10) + " ms"
	}
	return strconv.FormatFloat(d.Round(100*time.Millisecond).Seconds(), 'f', -1, 64) + " s"
}

// longer writes how long something took that was longer than it may, so that this shows.
func longer(d, allowed time.Duration) string {
	if words := lasted(d); words != lasted(allowed) {
		return words
	}
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + " s"
}

// at writes when something happened: "12.304 s".
func at(d time.Duration) string { return fmt.Sprintf("%.3f s", d.Seconds()) }

// between writes a span; one that is no longer than what is written of times is an instant.
func between(from, to time.Duration) string {
	if at(from) == at(to) {
		return "at " + at(from)
	}
	return fmt.Sprintf("between %s and %s", at(from), at(to))
}

// spread writes how numbers are distributed: "5, median 1.2 s, 9 in 10 up to 2 s, at most 3 s".
func spread[T cmp.Ordered](all []T, write func(T) string) string {
	all = slices.Sorted(slices.Values(all))
	switch n := len(all); n {
	case 0:
		return "none"
	case 1:
		return "1, " + write(all[0])
	default:
		return fmt.Sprintf("%d, median %s, 9 in 10 up to %s, at most %s",
			n, write(all[(n-1)/2]), write(all[(9*n+9)/10-1]), write(all[n-1]))
	}
}

// meanwhile writes which faults were under way at some time of s, or began or ended then: those that touched some of the
// nodes, and those that were elsewhere.
func (f *facts) meanwhile(s span, nodes set) string {
	var here, elsewhere []string
	add := func(t *history.Fault) {
		if t == nil {
			return
		}
		to := &here
		if nodes != (set{}) && f.touched(t).and(nodes) == (set{}) {
			to = &elsewhere
		}
		if words := fault(t); !slices.Contains(here, words) && !slices.Contains(elsewhere, words) {
			*to = append(*to, words)
		}
	}
	for _, p := range f.phases {
		if p.meets(s) {
			for _, t := range p.faults {
				add(t)
			}
		}
	}
	for _, a := range f.actionsIn(s) {
		if a.whole {
			add(a.fault)
		}
	}
	var parts []string
	if len(here) > 0 {
		parts = append(parts, few(here))
	}
	if len(elsewhere) > 0 {
		parts = append(parts, "elsewhere: "+few(elsewhere))
	}
	return cmp.Or(strings.Join(parts, "; "), "none")
}

// few writes names, but no more than some.
func few(names []string) string {
	const most = 6
	if n := len(names); n > most {
		names = append(names[:most-1:most-1], fmt.Sprintf("%d more", n-most+1))
	}
	return list(names)
}

// touched returns the nodes that a fault was aimed at, and all whose links, processes, clocks, disks, clients, processors or memory it changed.
// A fault of which nothing of that is known may have touched any.
func (f *facts) touched(t *history.Fault) (nodes set) {
	add := func(names ...string) { nodes = nodes.or(f.group(names...)) }
	add(t.Nodes...)
	for _, l := range t.Links {
		add(l.From, l.To)
	}
	for _, p := range t.Procs {
		add(p.Node)
	}
	for _, c := range t.Clocks {
		add(c.Node)
	}
	for _, d := range t.Disks {
		add(d.Node)
	}
	for _, c := range t.Clients {
		add(c.Node)
	}
	for _, p := range t.CPUs() {
		add(p.Node)
	}
	for _, m := range t.Memories() {
		add(m.Node)
	}
	for _, o := range t.Owns() {
		add(o.Node)
	}
	if nodes == (set{}) {
		return first(maxNodes)
	}
	return nodes
}

// concerned returns the nodes that an invalid result is about: what it says itself, and those of the answers that show it.
func (f *facts) concerned(r *Result) set {
	nodes := r.about
	said := slices.DeleteFunc(slices.Clone(r.Ops), func(op int) bool {
		return slices.ContainsFunc(f.actions, func(a action) bool { return a.op == op })
	})
	for i := range f.answers {
		if a := &f.answers[i]; slices.Contains(said, a.op) {
			nodes = nodes.or(f.group(f.nodes[a.node], f.leader(a)))
		}
	}
	return nodes
}

// group is the set of some nodes, by their names. Names of others are left out.
func (f *facts) group(names ...string) (nodes set) {
	for _, name := range names {
		if i := slices.Index(f.nodes, name); i >= 0 {
			nodes.add(i)
		}
	}
	return nodes
}

// power tells what a verdict of valid is worth, whatever the property: what was there to be seen, and how well it was
// looked at.
func (f *facts) power() []Figure {
	var worst time.Duration
	for w := range f.electing() {
		worst = max(worst, w.worst)
	}
	gap := duration("longest gap between answers", worst)
	if worst == 0 || f.setup.Untimed {
		gap = text(gap.Name, "not asked twice")
		if f.askedTwice() || f.setup.Untimed {
			gap.Value = "not known"
		}
	}
	return []Figure{
		figure("leaderships seen", len(f.leads)), text("faults that took effect", fmt.Sprintf("%d of %d", f.took, f.tried)),
		gap,
	}
}

// list writes "n1, n2 and n3".
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// names writes the members of a set.
func (f *facts) names(s set) string {
	var names []string
	s.each(func(i int) { names = append(names, f.nodes[i]) })
	return list(names)
}

// fault writes a fault with the nodes that it was aimed at: "isolate of n2", "partition of n1 from n2 and n3".
func fault(t *history.Fault) string {
	if len(t.Nodes) == 0 {
		return t.Name
	}
	var sides []string
	for _, side := range t.Sides() {
		sides = append(sides, list(side))
	}
	return t.Name + " of " + strings.Join(sides, " from ")
}

// after writes what the nemesis had done last: ", 300 ms after isolate of n2 ended".
func (f *facts) after(t time.Duration) string {
	a := f.action(t)
	if a == nil || a.fault == nil {
		return ""
	}
	verb := map[history.F]string{history.Inject: "began", history.Change: "moved", history.Heal: "ended"}[a.f]
	return fmt.Sprintf(", %s after %s %s", lasted(t-a.at), fault(a.fault), verb)
}

// conditions writes what the faults of a phase were, to follow a statement: "while only the link n1–n3 was cut".
func (f *facts) conditions(p phase) string {
	if pair, ok := f.onlyLink(p); ok {
		return "while only the link " + pair
	}
	var faults []string
	for _, t := range p.faults {
		if words := fault(t); !slices.Contains(faults, words) {
			faults = append(faults, words)
		}
	}
	if len(faults) == 0 {
		return "while nothing was at fault"
	}
	return "during " + list(faults)
}

// onlyLink tells whether all that was wrong in a phase was one link, cut in both directions, for ever or now and then.
func (f *facts) onlyLink(p phase) (string, bool) {
	if slices.ContainsFunc(p.faults, func(t *history.Fault) bool { return len(t.States()) > len(t.Links) }) {
		return "", false
	}
	n := f.world.n
	a, b, whole := -1, -1, false
	for _, e := range f.world.during(span{p.from, p.to - 1}) {
		cut := 0
		for i := range n {
			for j := range i {
				if e.mutual[i].has(j) {
					continue
				}
				if cut++; !e.deaf[i].has(j) || !e.deaf[j].has(i) || a >= 0 && (a != j || b != i) {
					return "", false
				}
				a, b = j, i
			}
		}
		if e.still != (set{}) || e.up != e.well {
			return "", false
		}
		whole = whole || cut == 0
	}
	switch {
	case a < 0:
		return "", false
	case whole:
		return f.nodes[a] + "–" + f.nodes[b] + " came and went", true
	}
	return f.nodes[a] + "–" + f.nodes[b] + " was cut", true
}

// electing is how each node was watched, but for the servers: those that elect are to be asked who leads, and of servers is asked whether they are there.
func (f *facts) electing() iter.Seq[*watched] {
	return func(yield func(*watched) bool) {
		for i := range f.seen {
			if !f.servers.has(i) && !yield(&f.seen[i]) {
				return
			}
		}
	}
}

func (f *facts) askedTwice() bool {
	for w := range f.electing() {
		if w.polls > 1 {
			return true
		}
	}
	return false
}

// ungapped says why no time is known that two answers of a node leave open.
func (f *facts) ungapped() string {
	if f.askedTwice() {
		if f.world.n == 0 {
			return "gaps between answers are not known, as begin does not name the members"
		}
		return "no node surely was up between two answers"
	}
	return "no node was asked twice"
}

// watch writes how closely the nodes were observed, which is what a verdict of valid is worth.
func (f *facts) watch() string {
	nodes, torn, announcers, gaps := 0, 0, 0, 0
	var sum, worst time.Duration
	for s := range f.electing() {
		if s.whole > 0 {
			nodes++
		}
		if s.torn > 0 {
			torn++
		}
		if s.announced > 0 {
			announcers++
		}
		gaps += s.gaps
		sum += s.gapTime
		worst = max(worst, s.worst)
	}
	if nodes == 0 { // that a process runs is told by any answer
		nodes = torn
	}
	b := new(strings.Builder)
	switch {
	case f.setup.Untimed:
		fmt.Fprintf(b, "%s answered, and only the order of the answers is known", count.Of(nodes, "node"))
	case gaps > 0:
		every := sum / time.Duration(gaps)
		if nodes > 1 {
			b.WriteString("each of ")
		}
		fmt.Fprintf(b, "%s asked every %s, longest gap %s", count.Of(nodes, "node"), lasted(every), lasted(worst))
		if announcers > 0 {
			b.WriteString(", changes announced")
		}
	case announcers > 0:
		fmt.Fprintf(b, "%s announced changes, none was asked twice", count.Of(announcers, "node"))
	default:
		b.WriteString(f.ungapped())
	}
	if f.termless > 0 {
		b.WriteString(", " + f.uncounted())
	}
	if still, much := f.still.Much(f.end); much {
		fmt.Fprintf(b, ", the machine stood still for %s of %s", lasted(still), lasted(f.end))
	}
	return b.String()
}
