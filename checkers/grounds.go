package checkers

import (
	"cmp"
	"fmt"
	"strings"

	"recount/internal/count"
)

// What there must be in a history before it can be judged.

// blind says why there is nothing to judge claims by, or "".
func (f *facts) blind() string {
	whole, torn := 0, 0
	var names []string
	for i := range f.seen {
		if f.servers.has(i) {
			continue
		}
		s := &f.seen[i]
		if s.whole > 0 {
			whole++
			names = append(names, f.nodes[i])
		} else if s.polls+s.announced > 0 {
			torn++
		}
	}
	switch {
	case whole >= 2:
		return ""
	case whole+torn == 0 && f.setup.Standing:
		return "no node announced anything, and nobody is asked: have the patterns of log lines match what nodes write"
	case whole+torn == 0:
		return "no node gave an answer: observe at least two nodes"
	case whole == 0:
		return "every answer was put together from several readings: only undivided answers are evidence"
	}
	return fmt.Sprintf("only %s gave undivided answers: observe at least two nodes", list(names))
}

// unclaimed says why there is no leadership to judge.
func (f *facts) unclaimed() string {
	if why := f.unheeded(); why != "" {
		return "no node claimed to lead in a term: " + why
	}
	return "no node claimed to lead: give the cluster time to elect"
}

// unheeded says how many claims did not count, and what would help, or "".
func (f *facts) unheeded() string {
	if f.termless == 0 {
		return ""
	}
	return f.uncounted() + ": have nodes tell the term that they lead in, or say that the election has none (no_terms)"
}

// unranked says that claims that did not count may have been those of another leader, or "": all that claimed to lead, in a term or not,
// may be one node. What a node claims without a term next to a claim of its own in one, and denies not between, is of that: its
// log, say, had not been read.
func (f *facts) unranked() string {
	if f.termless == 0 {
		return ""
	}
	var all, pending, ranked, without set // pending and ranked: whose last word was a claim without a term, or was of one
	for i := range f.answers {
		a := &f.answers[i]
		n := int(a.node)
		if a.blank() {
			continue
		}
		if !a.claims() || a.ended {
			if pending.has(n) {
				without.add(n)
			}
			pending.remove(n)
			ranked.remove(n)
			continue
		}
		all.add(n)
		switch {
		case a.term > 0:
			pending.remove(n)
			ranked.add(n)
		case !ranked.has(n):
			pending.add(n)
		}
	}
	if without = without.or(pending); without == (set{}) || all.count() < 2 {
		return ""
	}
	return fmt.Sprintf("%s claimed to lead, and %s in no term: %s", f.names(all), f.names(without), f.unheeded())
}

// halfCounted says that a node claimed one lead with a tenure and without one, or "": which of these claims are of one leadership nobody knows,
// nor for how long it led beside another.
func (f *facts) halfCounted() string {
	counts := map[leadKey]bool{} // whether the claims of a node in a term tell a tenure
	var leaders, half set
	for i := range f.leads {
		l := &f.leads[i]
		leaders.add(l.node)
		in := leadKey{node: int16(l.node)}
		if f.numbered() {
			in.term = l.term
		}
		if was, known := counts[in]; known && was != (l.tenure > 0) {
			half.add(l.node)
		}
		counts[in] = l.tenure > 0
	}
	if half == (set{}) || leaders.count() < 2 {
		return ""
	}
	return fmt.Sprintf("%s claimed to lead, and some claims of %s tell a tenure and some none, so nobody knows how long that led: have all tell one, or none", f.names(leaders), f.names(half))
}

// uncounted says how many claims named no leadership, where leaderships are numbered.
func (f *facts) uncounted() string {
	if f.termless == 1 {
		return "1 claim without a term, or in term 0, does not count"
	}
	return count.Of(f.termless, "claim") + " without a term, or in term 0, do not count"
}

// fleeting says why nobody can tell how long leaderships lasted, or "": who claimed to lead was never asked, and what a node
// announces holds for an instant.
func (f *facts) fleeting() string {
	var never set
	for i := range f.leads {
		if n := f.leads[i].node; f.seen[n].polls == 0 && !f.setup.Standing {
			never.add(n)
		}
	}
	if never == (set{}) {
		return ""
	}
	return fmt.Sprintf("nobody asked %s, which claimed to lead, and what a node announces holds for an instant: "+
		"ask it again and again, or say that its log lines hold until the next", f.names(never))
}

// doubt says why nobody can tell whether a leader had a majority in a time, or what it was put out by in another; "" if that
// is not for lack of answers, nor for a machine that stood still.
func (f *facts) doubt(leader int, s, shaken span) string {
	var silent, waking set
	with := f.world.with(leader, f.world.during(s), (*epoch).ran)
	told := f.world.with(leader, f.world.during(s), (*epoch).heard)
	for i := range f.world.n {
		switch {
		case with.has(i) && !f.answering(i, s):
			silent.add(i)
		case with.has(i) && !told.has(i):
			waking.add(i)
		}
	}
	if with.has(leader) && !told.has(leader) { // so nobody was with it, for all that is known
		waking = set{}
		waking.add(leader)
	}
	switch {
	case f.stalled(shaken):
		return "the machine stood still about then: run it on a quiet one"
	case silent != (set{}):
		return f.gaveNone(silent)
	case waking != (set{}):
		return fmt.Sprintf("%s had not been heard of since the start: %s", f.names(waking), f.ask(waking))
	}
	return ""
}

// gaveNone says that some nodes, which had been heard of, gave no answer when one was due, and what would help.
func (f *facts) gaveNone(silent set) string {
	if f.unasked(silent) {
		return fmt.Sprintf("no log line of %s surely stood for longer than %s, and one that comes soon after a process ended may be of that: ask every node, too",
			f.names(silent), lasted(f.lull()))
	}
	return fmt.Sprintf("%s gave no answer for longer than %s: ask every node, more often", f.names(silent), lasted(f.lull()))
}

// unasked reports whether lines of logs, which stand, are all that tells of some nodes.
func (f *facts) unasked(nodes set) bool {
	asked := false
	nodes.each(func(i int) { asked = asked || f.seen[i].polls > 0 })
	return f.setup.Standing && !asked
}

// ask says what would show more of some nodes: to ask them more often does not where one was asked, and never told anything, nor where none is.
func (f *facts) ask(nodes set) string {
	if mute := f.mute(nodes); mute != (set{}) {
		return f.names(mute) + " never answered, look into why"
	}
	if f.unasked(nodes) {
		return "ask every node, too, or leave the nodes alone for longer"
	}
	return "ask every node, more often"
}

// askIn says what would show more of some nodes in a time.
func (f *facts) askIn(nodes set, s span) string {
	if silent := f.silentIn(nodes, s); silent != (set{}) && f.mute(nodes) == (set{}) {
		return f.gaveNone(silent)
	}
	return f.ask(nodes)
}

// mute are those of some nodes that were asked, and never told anything.
func (f *facts) mute(nodes set) (mute set) {
	nodes.each(func(i int) {
		if w := &f.seen[i]; w.asked && w.polls+w.announced == 0 {
			mute.add(i)
		}
	})
	return mute
}

// uncertain is why nobody can tell whether a leader had to go if it is not for one of those reasons.
const uncertain = "whoever challenged it may have begun before it surely had its majority: leave the nodes alone for longer"

// unnumbered is what may be judged of an election without terms instead.
const unnumbered = "exclusive-leadership is what may be asked of it"

// unjudgeable says why stability and liveness cannot be judged, or "".
func (f *facts) unjudgeable() string {
	switch b := f.setup.Bounds; {
	case b.Silence > 0 && b.Elect > 0:
	case len(f.setup.Nodes) == 0:
		return "the history does not begin with its setup: who the members are, and the times to judge them by"
	case b.Silence > 0:
		return "begin tells no bound elect: have it tell one, or check with --bound elect=TIME"
	case b.Elect > 0:
		return "begin tells no bound silence: have it tell one, or check with --bound silence=TIME"
	default:
		return "begin tells no bounds silence and elect: have it tell them, or check with --bound silence=TIME,elect=TIME"
	}
	if f.setup.Untimed {
		return "the ops tell no times, only an order: nobody knows how long anything lasted"
	}
	if f.added != "" {
		return f.unnamed()
	}
	return f.blind()
}

// unnamed says that nobody knows of what a majority was one.
func (f *facts) unnamed() string {
	return fmt.Sprintf("%s was made a voter, and begin does not name it: have it name all nodes that ever are members, and those that vote at first (voters)", f.added)
}

// noEffect says that a run cannot be valid on the strength of its faults.
func (f *facts) noEffect() string {
	if m := f.missed; m.fault != nil {
		why, _, _ := strings.Cut(m.why, "; ") // whom nodes were seen to follow then is no part of this sentence
		return fmt.Sprintf("%s injected, none was seen to take effect: %s of %q hit nobody at %s (%s): aim it at others, or later",
			count.Of(f.tried, "fault"), m.fault.Name, strings.Join(m.fault.Asked, " "), at(m.at), cmp.Or(why, "nobody was meant by that then"))
	}
	why := strings.ReplaceAll(f.unfelt, "; ", ", ") // clauses of a sentence are other things that were seen
	return fmt.Sprintf("%s injected, none was seen to take effect: %s", count.Of(f.tried, "fault"), cmp.Or(why, "find out with recount doctor why not"))
}
