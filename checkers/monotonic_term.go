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

// reported is what a node has told so far: what was heard of, and what it need not know any more once its process has ended.
type reported struct {
	heard, unheard rising
	until          time.Duration // when the node may still have been another member than it is now; -1 if it was none
	ends           []death       // of its processes, that are still to come
	ended          time.Duration // when the last one of those that are not; -never if there is none
}

// rising are terms that a node told, each higher than all before.
type rising struct {
	all       []record
	announced record // the highest that was
}

// before is the highest term that came before an answer.
func (t *rising) before(a *answer) record {
	if a.polled {
		return latest(t.all, a.from)
	}
	return t.announced
}

// add adds what an answer tells.
func (t *rising) add(a *answer) {
	now := record{a.to, a.term, a}
	if !a.polled && a.term >= t.announced.term {
		t.announced = now
	}
	if n := len(t.all); n == 0 || a.term > t.all[n-1].term {
		t.all = append(t.all, now)
	}
}

// forgets reports whether the node need not know any more what it told, since its process may have ended after that.
func (r *reported) forgets(f *facts, a *answer) bool { return !a.heard() && f.surely(a) <= r.ended }

// goesOn takes note that the node tells something at a time, and may have begun another life before that. Whatever it told by itself until
// now was of the life before: it has been started since.
func (r *reported) goesOn(at time.Duration) {
	for ; len(r.ends) > 0 && r.ends[0].again <= at; r.ends = r.ends[1:] {
		r.ended, r.unheard = r.ends[0].to, rising{}
	}
}

// before is the highest term that came before an answer.
func (r *reported) before(a *answer) record {
	one, other := r.heard.before(a), r.unheard.before(a)
	if one.by == nil || other.by != nil && (other.term > one.term || other.term == one.term && other.at < one.at) {
		return other
	}
	return one
}

// add adds what an answer tells.
func (r *reported) add(a *answer) {
	if a.heard() {
		r.heard.add(a)
	} else {
		r.unheard.add(a)
	}
}

// monotonicTerm compares each answer with the node's highest term before it. One was before another if it had come when
// the other was asked for. Announcements come in the order in which the node made them, but how long they took is not
// known: what was announced when a question was asked was true before the answer, while an answer may be newer than an
// announcement that comes after it. Who was taken out of the cluster and comes back is another member, and has told nothing. Who
// announced a term and ended before anybody may have heard of it may have forgotten it: a log tells of it before it is saved.
func monotonicTerm(_ context.Context, f *facts) Result {
	if !f.numbered() {
		return untested(nil, "the election numbers no leaderships, so there is no term that could go down: "+unnumbered)
	}
	if why := f.blind(); why != "" {
		return unknown(nil, "%s", why)
	}
	sure, perhaps := f.telling(false), tellings{}
	if slices.ContainsFunc(f.reseated, func(c changed) bool { return !c.failed && !c.told }) {
		perhaps = f.telling(true)
	}
	compared, drops, first := sure.compared, sure.drops, sure.first
	if compared += f.left.tells; drops > 0 { // or else what was left out repeats what need not be known any more
		drops += f.left.lower
	}
	figures := []Figure{
		figure("answers compared", compared), figure("lower than before", drops), figure("restarts", f.restarts),
	}
	switch a, b := first[0], first[1]; {
	case drops > 0:
		e := evidence{span{a.begins(), b.to}, []int{f.index(a), f.index(b)}}
		then, after := " later", f.after(b.to)
		if f.restarted(a, b) {
			then, after = ", started again,", ""
		}
		what := fmt.Sprintf("%s reported term %d and%s term %d%s", f.nodes[b.node], a.term, then, b.term, after)
		if newer, older := f.wentBack(); newer != nil {
			e.ops = append(e.ops, f.index(&f.answers[newer.first]), f.index(&f.answers[older.first]))
			e.to = max(e.to, f.answers[older.first].to)
			e.from = min(e.from, f.answers[newer.first].begins())
			what += fmt.Sprintf(", and leadership went back from %s in term %d to %s in term %d",
				f.nodes[newer.node], newer.term, f.nodes[older.node], older.term)
		}
		switch {
		case b.term > 0 || f.setup.Tokens:
		case f.setup.Model != "":
			what += "; if 0 is no term where it comes from, have the history say nil"
		default:
			what += `; the term was not kept, or if 0 is no term there, say so: in a spec file by term: {at: …, of: leader}, in a history by "tokens": true in its first op`
		}
		return invalid(figures, e, "%s", what)
	case perhaps.drops > 0:
		a, b := perhaps.first[0], perhaps.first[1]
		return unknown(figures, "%s reported term %d and later term %d%s, and nobody can tell whether it was another member by then: %s",
			f.nodes[b.node], a.term, b.term, f.after(b.to), unknownMembers)
	case compared == 0:
		return unknown(figures, "no node answered twice, one time after the other: ask again and again")
	case f.untold() != "":
		return unknown(figures, "%s", f.untold())
	}
	return valid(figures, "no term went down: %s compared with what the same node had answered before, %s on the way; %s",
		count.Of(compared, "answer"), count.Of(f.restarts, "restart"), f.watch())
}

// restarted reports whether a node's process surely ended after one of its answers and before it was asked for another.
func (f *facts) restarted(a, b *answer) bool {
	return b.polled && slices.ContainsFunc(f.ends(int(b.node), false), func(d death) bool { return d.from >= a.to && d.to <= b.from })
}

// tellings are the terms that nodes told, each compared with what the same node had told before.
type tellings struct {
	compared, drops int
	first           [2]*answer // of the drops
}

// telling compares them; as if nothing had come of what was done to memberships of which nobody knows the outcome, if told to.
func (f *facts) telling(told bool) (t tellings) {
	nodes := make([]reported, len(f.nodes))
	for i := range nodes {
		nodes[i] = reported{until: -1, ended: -never, ends: f.ends(i, true)}
	}
	changes := 0
	for i := range f.answers {
		a := &f.answers[i]
		if !a.tells() {
			continue
		}
		for ; changes < len(f.reseated) && f.reseated[changes].from <= a.to; changes++ {
			if c := &f.reseated[changes]; !c.failed && (c.told || !told) { // it is another member, or may be
				nodes[c.node] = reported{until: c.to, ended: nodes[c.node].ended, ends: nodes[c.node].ends}
			}
		}
		r := &nodes[a.node]
		r.goesOn(a.to)
		before := r.before(a)
		if before.by != nil {
			t.compared++
		}
		if before.term > a.term {
			if t.drops++; t.drops == 1 {
				t.first = [2]*answer{before.by, a}
			}
		}
		// It may be older than who the node is now, or than what runs now.
		if a.from > r.until && !r.forgets(f, a) {
			r.add(a)
		}
	}
	return t
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
