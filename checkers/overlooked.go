package checkers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"recount/internal/count"
)

// A node that runs, and that nobody looks at, may lead unseen. What nobody saw break is valid only if each node that may lead was seen
// for most of the time in which it should have been: in which it ran, could be asked, and had a majority. Who is down, cut off or in
// trouble is not overlooked: that is the nemesis's doing.

// mostUnseen is the part of that time, one in so many, that nobody need have seen.
const mostUnseen = 4

// sees takes note that something was seen of a node in a time that ends now, and that this counts until later. What an answer of long
// ago shows, which comes only now, was seen after all.
func (w *watched) sees(s span, until time.Duration) {
	n := len(w.unseen)
	for n > 0 && w.unseen[n-1].from >= s.from {
		n--
	}
	if w.unseen = w.unseen[:n]; n > 0 {
		w.unseen[n-1].to = min(w.unseen[n-1].to, s.from)
	}
	if w.counts < s.from {
		w.unseen = append(w.unseen, span{w.counts, s.from})
	}
	w.counts = max(w.counts, until)
}

// untold says of whom too little was seen, or "". If nodes announce their changes, undivided, what began unseen was told all the same, though
// not how long it lasted; but not by a node of which nothing whole came at all: whether that announces nobody knows.
func (f *facts) untold() string {
	if slices.ContainsFunc(f.seen, func(w watched) bool { return w.said >= 0 }) {
		return f.whoseOverlooked(func(w *watched) bool { return w.whole == 0 })
	}
	return f.overlooked()
}

// whoWasOverlooked says of whom too little was seen, or "".
func (f *facts) whoWasOverlooked() string {
	return f.whoseOverlooked(func(*watched) bool { return true })
}

// whoseOverlooked says of whom of some too little was seen, or "". Standing log lines tell of all nodes, always. Where no
// op tells a time, nothing lasted, and nobody was seen to lead for any time.
func (f *facts) whoseOverlooked(of func(*watched) bool) (why string) {
	if f.added != "" {
		return f.unnamed()
	}
	if why := f.timeless(); why != "" {
		return why
	}
	if f.unjudgeable() != "" || f.setup.Standing {
		return ""
	}
	f.leaders.each(func(i int) {
		unseen := f.seen[i].unseen
		if why != "" || len(unseen) == 0 || !of(&f.seen[i]) {
			return
		}
		var should, missed time.Duration
		for part, e := range f.world.parts(span{0, f.end}) {
			now := []epoch{*e}
			if with := f.world.with(i, now, (*epoch).ran); !e.asked.has(i) || !e.roll.votes.has(i) || !f.majority(with, f.world.rollsOf(now)...) {
				continue
			}
			for _, s := range outside(f.stalls, part) {
				should += s.length()
				for _, o := range meeting(unseen, s) {
					missed += o.within(s).length()
				}
			}
		}
		if mostUnseen*missed > should {
			why = f.overlookedWhy(i, missed, should)
		}
	})
	return why
}

// overlookedWhy says how much of the time in which a node should have been seen it was not, and what would help: to ask more often only
// where that, and not what came of it, was at fault.
func (f *facts) overlookedWhy(i int, missed, should time.Duration) string {
	w := &f.seen[i]
	of := fmt.Sprintf("for %s of the %s in which it ran and had a majority", lasted(missed), lasted(should))
	if w.torn+w.none == 0 {
		var it set
		it.add(i)
		return fmt.Sprintf("nothing was seen of %s %s: %s", f.nodes[i], of, f.ask(it))
	}
	longest := w.unseen[0]
	for _, o := range w.unseen {
		if o.length() > longest.length() {
			longest = o
		}
	}
	var parts, help []string
	if w.torn > 0 {
		parts, help = append(parts, count.Of(w.torn, "answer")+" torn"), append(help, "read the role, the leader and the term of a node at once")
	}
	if w.none > 0 {
		parts, help = append(parts, count.Of(w.none, "question")+" without an answer"), append(help, "ask for longer, or look into why it does not answer")
	}
	return fmt.Sprintf("%s gave no undivided answer %s, at the longest from %s to %s, with %s: %s",
		f.nodes[i], of, at(longest.from), at(longest.to), list(parts), strings.Join(help, "; "))
}

// timeless says that no op tells a time, or "". Nobody led for any time then, and no operation surely came after another.
func (f *facts) timeless() string {
	if f.end > 0 {
		return ""
	}
	return "all ops are of one time, 0 s, as if nothing lasted: have each op tell its time"
}
