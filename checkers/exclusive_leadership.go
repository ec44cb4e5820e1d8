package checkers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"recount/checkers/linear"
	"recount/internal/count"
)

func init() {
	register(Checker{
		Property: exclusive,
		Holds:    "no two nodes are leader at one instant, whatever their terms: what leases and locks promise",
		check:    exclusiveLeadership,
	})
}

const exclusive = "exclusive-leadership"

// hold is the leadership as a lock: a node surely had it from one of its claims to another, where no answer that denies it,
// and no end of its process, may lie between them, or at some instant of a single claim.
type hold struct {
	taken, given time.Duration // taken by then at the latest, given back then at the earliest
	node         int
	first, last  int32 // the claims, in answers
}

// begin and end are where the time lies in which it may have been the shortest.
func (h *hold) begin() time.Duration { return min(h.taken, h.given) }
func (h *hold) end() time.Duration   { return max(h.taken, h.given) }

// clashes reports whether two nodes cannot have held the lock one after the other, of whom o began no earlier. Who gives it back at the
// very time at which another takes it may have been first.
func (h *hold) clashes(o *hold) bool {
	return h.node != o.node && (max(h.taken, o.taken) < min(h.given, o.given) || o.within(h))
}

// within reports whether h can only have been while o was held.
func (h *hold) within(o *hold) bool {
	return h.given <= h.taken && o.taken < h.given && h.taken < o.given
}

// turn is an operation on the lock.
type turn struct {
	node string
	hold int
	take bool
}

// lockModel is a lock. Its state is the hold that has it, 0 for none.
var lockModel = porcupine.Model{
	Init: func() any { return 0 },
	Step: func(state, input, _ any) (bool, any) {
		t := input.(turn)
		if t.take {
			return state == 0, t.hold
		}
		return state == t.hold, 0
	},
	DescribeOperation: func(input, _ any) string {
		t := input.(turn)
		if t.take {
			return t.node + " takes the lead"
		}
		return t.node + " gives it up"
	},
}

// exclusiveLeadership looks for two holds that clash. Where none do, each may have been as short as it can, and all of
// them one after the other: so that is all there is to decide. porcupine confirms the clash.
func exclusiveLeadership(ctx context.Context, f *facts) Result {
	if why := f.blind(); why != "" {
		return unknown(nil, "%s", why)
	}
	figures := []Figure{figure("leaderships", len(f.leads))}
	if len(f.leads) == 0 {
		return untested(figures, "%s", f.unclaimed())
	}
	holds := f.holds()
	sure := f.surelyBoth()
	a, b := clash(slices.DeleteFunc(slices.Clone(holds), func(h hold) bool { return h.taken >= h.given }), sure)
	if a == nil {
		a, b = clash(slices.Clone(holds), sure) // a moment will do where there is nothing longer to show
	}
	if a == nil {
		for _, doubt := range []func() string{f.unranked, f.halfCounted, f.fleeting, f.unlessLedAgain, f.unlessOver, f.overlooked, f.tooCloseToTell} {
			if why := doubt(); why != "" {
				return unknown(figures, "%s", why)
			}
		}
		return valid(figures, "%s, no two seen at one instant; %s", count.Of(len(f.leads), "leadership"), f.watch())
	}
	if lapsed := f.unpromised(exclusive); len(lapsed) > 0 { // what went on, or came, when it was promised
		if x, y := clash(except(holds, lapsed), sure); x != nil {
			a, b = x, y
		}
	}
	ops := slices.Concat(f.turns(a, 1), f.turns(b, 2))
	ctx, cancel := linear.Extended(ctx)
	defer cancel()
	switch answer, why := linear.Ask(ctx, lockModel, ops); answer {
	case porcupine.Unknown:
		return unknown(figures, "%s", why)
	case porcupine.Ok:
		panic(fmt.Sprintf("porcupine knows an order for %v and %v", *a, *b))
	}
	e := evidence{span: span{max(a.begin(), b.begin()), min(a.end(), b.end())}}
	for _, h := range []*hold{a, b} {
		e.ops = append(e.ops, f.index(&f.answers[h.first]), f.index(&f.answers[h.last]))
	}
	r := invalid(figures, e, "%s", f.together(a, b))
	r.Drawing = linear.Draw(ctx, lockModel, ops)
	return r
}

// unlessLedAgain says who led at one time unless one of the two lost the lead and won it back between two of its claims, or "".
func (f *facts) unlessLedAgain() string {
	if f.numbered() {
		return ""
	}
	a, b := clash(f.allHolds(true, false), nil)
	if a == nil {
		return ""
	}
	return fmt.Sprintf("%s, unless one of them led again in between, which nothing tells where leaderships have no numbers: "+
		"ask nodes for their status more often, or have them count their leaderships (tenure)", f.together(a, b))
}

// unlessOver says who led at one time unless a process ended of which nobody knows whether it did, or one of the two was out, or "".
func (f *facts) unlessOver() string {
	doubtful := slices.ContainsFunc(f.world.rolls, func(r roll) bool { return r.may != set{} }) ||
		slices.ContainsFunc(f.seen, func(w watched) bool {
			return slices.ContainsFunc(w.deaths, func(d death) bool { return d.perhaps })
		})
	if !doubtful {
		return ""
	}
	a, b := clash(f.allHolds(false, false), nil)
	if a == nil {
		return ""
	}
	s := span{max(a.begin(), b.begin()), min(a.end(), b.end())}
	var unless string
	for _, h := range []*hold{b, a} {
		if slices.ContainsFunc(f.outs(h.node, true), s.meets) {
			unless = fmt.Sprintf("%s was no member then", f.nodes[h.node])
		}
		for _, d := range f.seen[h.node].deaths {
			if d.perhaps && d.to >= f.answers[h.first].from && d.from <= f.answers[h.last].to {
				unless = fmt.Sprintf("%s ended in between, as it may have from %s on", f.nodes[h.node], at(d.from))
			}
		}
	}
	return fmt.Sprintf("%s, unless %s: see to it that what is done to nodes takes effect, and is seen to", f.together(a, b), unless)
}

// tooCloseToTell says who led at one time if log lines that stand were read at once, and need not have otherwise; or "".
func (f *facts) tooCloseToTell() string {
	if !f.setup.Standing {
		return ""
	}
	all := slices.Clone(f.holds())
	for i := range f.nodes {
		all = append(all, except(f.stood(i), f.outs(i, true))...)
	}
	a, b := clash(slices.DeleteFunc(all, func(h hold) bool { return h.taken >= h.given }), nil)
	if a == nil {
		return ""
	}
	return fmt.Sprintf("%s by their log lines, which may be read as late as %s: ask nodes for their status, too", f.together(a, b), lasted(f.lag()))
}

// stood returns when a node led by its log lines, if each was read at once: for as long as it said them again, and until it said something
// else, or its process ended, if that came before it would have said them once more.
func (f *facts) stood(node int) (all []hold) {
	var line *answer
	soon := max(f.lag(), f.lull()/3, time.Millisecond) + 1
	for i := range f.answers {
		a := &f.answers[i]
		switch {
		case int(a.node) != node:
		case a.repeats && line != nil:
			h := &all[len(all)-1]
			h.given, h.last = a.to, int32(i)
		case a.polled && !a.ended && (line == nil || !a.contradicts(line)):
		default:
			if line != nil {
				if h, until := &all[len(all)-1], a.to; !a.ended && until <= h.given+soon {
					h.given = until
				} else if a.ended && a.from <= h.given+soon {
					h.given = max(h.given, a.from)
				}
			}
			if line = nil; !a.polled && !a.stale && a.lead >= 0 {
				line, all = a, append(all, hold{a.to, a.to, node, int32(i), int32(i)})
			}
		}
	}
	return all
}

// together says that two led at one time: throughout a time, or, where b did for an instant, at that, which nobody knows closer.
func (f *facts) together(a, b *hold) string {
	when := "time"
	if b.taken >= b.given {
		when = "instant"
	}
	return fmt.Sprintf("%s%s and %s%s led at one %s, %s", f.nodes[a.node], f.in(f.claimed(a)), f.nodes[b.node], f.in(f.claimed(b)),
		when, between(max(a.begin(), b.begin()), min(a.end(), b.end())))
}

// claimed is the leadership that a hold is of.
func (f *facts) claimed(h *hold) *leadership { return &f.leads[f.answers[h.first].lead] }

// allHolds returns all holds that are part of no other, if whatever may have been over was: processes that may have ended, and members
// that may have been out; or if it was not. Where nothing numbers leaderships they are sure or not: see lostSight.
func (f *facts) allHolds(perhaps, sure bool) (all []hold) {
	byNode := make([][]int32, len(f.nodes)) // answers that are not torn
	for i := range f.answers {
		if a := &f.answers[i]; !a.torn {
			byNode[a.node] = append(byNode[a.node], int32(i))
		}
	}
	for node, answers := range byNode {
		all = append(all, except(f.holdsOf(nil, answers, f.lifetimes(node, perhaps), sure), f.outs(node, perhaps))...)
	}
	return all
}

// except leaves some times out of holds, such as when the node was out: then it leads nobody, whatever it claims.
func except(all []hold, outs []span) (rest []hold) {
	if len(outs) == 0 {
		return all
	}
	for _, h := range all {
		switch {
		case h.taken < h.given:
			for _, s := range outside(outs, span{h.taken, h.given}) {
				h.taken, h.given = s.from, s.to
				rest = append(rest, h)
			}
		case len(meeting(outs, span{h.given, h.taken})) == 0:
			rest = append(rest, h)
		}
	}
	return rest
}

// holdsOf adds the holds of one node, given all of its answers, and how long its lives lasted. A tenure that the node counts is one hold for as long
// as it lives.
func (f *facts) holdsOf(all []hold, answers []int32, lifetime func(time.Duration) time.Duration, sure bool) []hold {
	denials := sync.OnceValue(func() []earliest { return f.denials(answers) })
	unseen := sync.OnceValue(func() func(time.Duration) time.Duration { return f.lostSight(answers, sure) })
	type group struct {
		leadKey
		tenure int32 // the leadership, where the node counts them
	}
	type claimed struct {
		group
		claims []int32
	}
	var groups []claimed // in the order of their first claims
	at, latest := map[group]int{}, -1
	for _, i := range answers {
		a := &f.answers[i]
		key, ok := f.key(a)
		if !ok {
			continue
		}
		g := group{key, -1}
		if a.tenure > 0 {
			g.tenure = a.lead
		}
		if latest < 0 || groups[latest].group != g { // mostly it is the same again
			k, known := at[g]
			if !known {
				k = len(groups)
				at[g], groups = k, append(groups, claimed{group: g})
			}
			latest = k
		}
		groups[latest].claims = append(groups[latest].claims, i)
	}
	for _, g := range groups {
		all = f.holdsAs(all, g.claims, func(since time.Duration) time.Duration {
			if g.tenure >= 0 {
				return lifetime(since)
			}
			k := sort.Search(len(answers), func(k int) bool { return f.answers[answers[k]].to >= since })
			by := min(lifetime(since), denials()[k].others) // if the first is another's, this claim is among them: that is no time at all
			if !f.numbered() {
				by = min(by, unseen()(since))
			}
			return by
		})
	}
	return all
}

// lostSight returns what tells before when a claim has to have come for the node to have been seen all the time since an instant at which
// another was asked for, or after it: where nothing numbers leaderships, it may have lost one and won another while it told nothing for
// longer than a lull, or told it in pieces; and to be sure, for longer than others wait for a leader, or was asked to hand over.
func (f *facts) lostSight(answers []int32, sure bool) func(since time.Duration) time.Duration {
	sight := f.lull()
	if sure {
		sight = f.sight()
	}
	type blank struct{ to, by time.Duration } // none if a claim came before by; for those that were asked for by to
	var all []blank
	last := time.Duration(-1)
	node := f.answers[answers[0]].node
	for i := range f.answers {
		a := &f.answers[i]
		switch {
		case a.node != node || a.ended || a.torn && a.repeats:
		case a.torn:
			all = append(all, blank{a.to, a.from})
		default:
			if last >= 0 && sight > 0 && !a.dull && a.from-last > sight {
				all = append(all, blank{last, last + 1})
			}
			last = a.to
		}
	}
	for _, r := range f.resigned {
		if sure && r.node == int(node) {
			all = append(all, blank{r.to, r.from})
		}
	}
	slices.SortStableFunc(all, func(a, b blank) int { return cmp.Compare(a.to, b.to) })
	for k := len(all) - 2; k >= 0; k-- {
		all[k].by = min(all[k].by, all[k+1].by)
	}
	return func(since time.Duration) time.Duration {
		if k := sort.Search(len(all), func(k int) bool { return all[k].to >= since }); k < len(all) {
			return all[k].by
		}
		return never
	}
}

// holdsAs adds the holds of one node under one number, given its claims and what tells before when a claim has to have come for
// nothing to deny it since an instant at which one was asked for, or after it.
func (f *facts) holdsAs(all []hold, claims []int32, denied func(since time.Duration) time.Duration) []hold {
	latest := make([]int32, len(claims)) // of the claims up to each, the one that was asked for last
	for k, i := range claims {
		if latest[k] = i; k > 0 && f.answers[latest[k-1]].from > f.answers[i].from {
			latest[k] = latest[k-1]
		}
	}
	held := hold{given: -1}
	for _, i := range claims {
		a := &f.answers[i]
		by := denied(a.from)
		k := sort.Search(len(claims), func(k int) bool { return f.answers[claims[k]].to >= by })
		h := hold{a.to, a.from, int(a.node), i, i}
		if k > 0 {
			if last := f.answers[latest[k-1]].from; last >= a.to {
				h.given, h.last = last, latest[k-1]
			}
		}
		if h.end() > held.given { // or it is a part of that, or overlaps whatever it clashes with
			all = append(all, h)
		}
		if h.taken < h.given {
			held = h
		}
	}
	return all
}

// earliest is when the first of some answers may be true that do not claim a leadership, whichever that is.
type earliest struct {
	from, others time.Duration // of all; of those that claim another leadership than the first, or none
	claims       bool
	key          leadKey // of the first, if it claims one
}

// denials returns that for the answers from each on.
func (f *facts) denials(answers []int32) []earliest {
	all := make([]earliest, len(answers)+1)
	all[len(answers)] = earliest{from: never, others: never}
	since := f.deniedFrom(answers)
	for k, i := range slices.Backward(answers) {
		a, e := &f.answers[i], all[k+1]
		if a.ended { // what lives count for
			all[k] = e
			continue
		}
		from := since[k]
		key, claims := f.key(a)
		same := claims == e.claims && key == e.key
		switch {
		case from < e.from && same:
			e.from = from
		case from < e.from:
			e = earliest{from, e.from, claims, key}
		case !same:
			e.others = min(e.others, from)
		}
		all[k] = e
	}
	return all
}

// deniedFrom returns from when on each answer of a node may deny what it claims. An announcement counts as asked for with an answer that had
// come before it, but if it tells of a higher term than all claims that have come since that was asked for, it is later than they: terms do
// not fall.
func (f *facts) deniedFrom(answers []int32) []time.Duration {
	all := make([]time.Duration, len(answers))
	claims := struct { // those that came since, by when the latest had, and the highest term of them
		since, to time.Duration
		term      uint64
		next      int // the first that was not looked at
	}{to: -1}
	for k, i := range answers {
		a := &f.answers[i]
		all[k] = a.from
		if a.polled || !f.numbered() {
			continue
		}
		if claims.since != a.from {
			claims.since, claims.to, claims.term, claims.next = a.from, -1, 0, k
			for claims.next > 0 && f.answers[answers[claims.next-1]].to >= a.from {
				claims.next--
			}
		}
		for ; claims.next < k; claims.next++ {
			if b := &f.answers[answers[claims.next]]; b.claims() {
				claims.to, claims.term = b.to, max(claims.term, b.term)
			}
		}
		if claims.term < a.term && claims.to < a.to {
			all[k] = max(a.from, claims.to+1)
		}
	}
	return all
}

// surelyBoth returns what tells whether two holds that clash surely are of two nodes at one time; nil if all are. Where nothing numbers the
// leaderships of one of them, it may have lost the lock and won it back between two of its claims: the other may have had it then. Who does
// not say how long nodes wait for a leader takes that to be too fast for any.
func (f *facts) surelyBoth() func(a, b *hold) bool {
	if f.numbered() || f.setup.Bounds.Silence == 0 {
		return nil
	}
	return func(a, b *hold) bool {
		counts, also := f.answers[a.first].tenure > 0, f.answers[b.first].tenure > 0
		return counts && also || counts && f.claimsIn(b, a) || also && f.claimsIn(a, b) || f.alternate(a, b) || f.alternate(b, a)
	}
}

// claimsIn reports whether h was claimed in an answer that can only be of a time in which o was held.
func (f *facts) claimsIn(h, o *hold) bool {
	for i := h.first; f.answers[i].to < o.given; i++ {
		if x := &f.answers[i]; int(x.node) == h.node && x.from > o.taken && x.from <= h.given && len(meeting(f.outs(h.node, true), span{x.from, x.to})) == 0 {
			return true
		}
	}
	return false
}

// alternate reports whether b was surely claimed after a was, and then a once more while b still was: the lock would have had to go from
// one to the other three times. Whatever a node answers while it holds the lock claims that.
func (f *facts) alternate(a, b *hold) bool {
	first := never // after a, when b was
	for i := max(a.first, b.first); f.answers[i].to < b.given; i++ {
		switch x := &f.answers[i]; {
		case min(first, x.to) > a.given:
			return false // a has to be claimed after that
		case int(x.node) == b.node && x.from > a.taken && x.to >= b.taken:
			first = min(first, x.to)
		case int(x.node) == a.node && x.from > first && x.from <= a.given:
			return true
		}
	}
	return false
}

// clash returns two holds that clash, those that did so first, or nil; of those alone that surely are of two nodes at one time, if that is told.
func clash(all []hold, sure func(a, b *hold) bool) (a, b *hold) {
	slices.SortStableFunc(all, func(a, b hold) int { return cmp.Compare(a.begin(), b.begin()) })
	var open []*hold // that have not ended when the next one begins
	for i := range all {
		h := &all[i]
		open = slices.DeleteFunc(open, func(o *hold) bool { return o.end() <= h.begin() })
		for _, o := range open {
			if o.clashes(h) && (sure == nil || sure(o, h)) {
				return o, h
			}
		}
		open = append(open, h)
	}
	return nil, nil
}

// turns makes a hold two operations: taken after the node's last denial, given back before its next one.
func (f *facts) turns(h *hold, number int) []porcupine.Operation {
	l := f.claimed(h)
	lost := never
	if l.lost >= 0 {
		lost = f.answers[l.lost].to
	}
	node := f.nodes[h.node]
	return []porcupine.Operation{
		{ClientId: h.node, Input: turn{node, number, true}, Call: int64(min(l.since, h.taken)), Return: int64(h.taken)},
		{ClientId: h.node, Input: turn{node, number, false}, Call: int64(h.given), Return: int64(max(lost, h.given))},
	}
}
