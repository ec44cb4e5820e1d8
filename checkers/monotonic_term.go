package checkers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"recount/internal/count"
)

func init() {
	register(Checker{
		Property: "monotonic-term",
		Holds:    "the term a node reports never goes down, restarts included",
		check:    monotonicTerm,
	})
}

// record is an answer whose term was higher than that of all of its node's answers before.
type record struct {
	at   time.Duration
	term uint64
	by   *answer
}

// monotonicTerm compares each answer with the node's highest term before it. One was before another if it had come when
// the other was asked for. Announcements come in the order in which the node made them, but how long they took is not
// known: what was announced when a question was asked was true before the answer, while an answer may be newer than an
// announcement that comes after it. Who was taken out of the cluster and comes back is another member, and has told nothing.
func monotonicTerm(_ context.Context, f *facts) Result {
	if !f.numbered() {
		return untested(nil, "the election numbers no leaderships, so there is no term that could go down: "+unnumbered)
	}
	if why := f.blind(); why != "" {
		return unknown(nil, "%s", why)
	}
	records := make([][]record, len(f.nodes))    // of all answers
	announced := make([]record, len(f.nodes))    // the highest one announced
	until := make([]time.Duration, len(f.nodes)) // when a node may still have been another member than it is now
	for i := range until {
		until[i] = -1 // it was none before
	}
	changes, compared, drops := 0, 0, 0
	var first [2]*answer
	for i := range f.answers {
		a := &f.answers[i]
		if !a.tells() {
			continue
		}
		for ; changes < len(f.reseated) && f.reseated[changes].from <= a.to; changes++ {
			if c := &f.reseated[changes]; !c.failed { // it is another member, or may be
				until[c.node], records[c.node], announced[c.node] = c.to, nil, record{}
			}
		}
		late := a.from <= until[a.node] // it may be older than who the node is now, and so is compared with nothing but what it announced before
		all := records[a.node]
		var before record
		if a.polled {
			before = latest(all, a.from)
		} else if before = announced[a.node]; a.term >= before.term && !late {
			announced[a.node] = record{a.to, a.term, a}
		}
		if before.by != nil {
			compared++
		}
		if before.term > a.term {
			if drops++; drops == 1 {
				first = [2]*answer{before.by, a}
			}
		}
		if !late && (len(all) == 0 || a.term > all[len(all)-1].term) {
			records[a.node] = append(all, record{a.to, a.term, a})
		}
	}
	compared, drops = compared+f.left.tells, drops+f.left.lower
	figures := []Figure{
		figure("answers compared", compared), figure("lower than before", drops), figure("restarts", f.restarts),
	}
	switch a, b := first[0], first[1]; {
	case drops > 0:
		e := evidence{span{a.begins(), b.to}, []int{f.index(a), f.index(b)}}
		what := fmt.Sprintf("%s reported term %d and later term %d%s", f.nodes[b.node], a.term, b.term, f.after(b.to))
		if newer, older := f.wentBack(); newer != nil {
			e.ops = append(e.ops, f.index(&f.answers[newer.first]), f.index(&f.answers[older.first]))
			e.to = max(e.to, f.answers[older.first].to)
			e.from = min(e.from, f.answers[newer.first].begins())
			what += fmt.Sprintf(", and leadership went back from %s in term %d to %s in term %d",
				f.nodes[newer.node], newer.term, f.nodes[older.node], older.term)
		}
		return invalid(figures, e, "%s", what)
	case compared == 0:
		return unknown(figures, "no node answered twice, one time after the other: ask again and again")
	case f.untold() != "":
		return unknown(figures, "%s", f.untold())
	}
	return valid(figures, "no term went down: %s compared with what the same node had answered before, %s on the way; %s",
		count.Of(compared, "answer"), count.Of(f.restarts, "restart"), f.watch())
}

// wentBack returns the first leadership that began, as far as its first claim shows, after a leadership of another node in a
// newer term had been claimed, and that one; nil if there is none.
func (f *facts) wentBack() (newer, older *leadership) {
	byClaim := make([]*leadership, len(f.leads)) // in the order of their first claims
	for i := range f.leads {
		byClaim[i] = &f.leads[i]
	}
	slices.SortFunc(byClaim, func(a, b *leadership) int { return cmp.Compare(a.first, b.first) })
	var highest *leadership
	for _, l := range byClaim {
		if highest != nil && l.term < highest.term && l.node != highest.node &&
			f.answers[l.first].begins() > f.answers[highest.first].to && l.since > f.answers[highest.first].to {
			return highest, l
		}
		if highest == nil || l.term > highest.term {
			highest = l
		}
	}
	return nil, nil
}

// latest returns the last record that was set before a time.
func latest(all []record, before time.Duration) record {
	for _, r := range slices.Backward(all) {
		if r.at < before {
			return r
		}
	}
	return record{}
}
