package report

import (
	"time"

	"recount/history"
)

// Who was what when: the ops that tell of one node become a line of segments without holes, from the run's start to its
// end. What was not seen is unknown, never assumed.

// Span is a stretch of time.
type Span struct{ From, To time.Duration }

// Length is how long it lasts.
func (s Span) Length() time.Duration { return s.To - s.From }

// Segment is a stretch of time in which a node was, by all that is known, one thing.
type Segment struct {
	Span
	State history.ProcState
	Known bool         // whether anybody saw what the node was
	View  history.View // what it said last, where Known; what a paused node said before it was paused
	Seen  time.Duration
	Parts int // how many shorter segments this one stands for; 0 for none
}

// Exited is the state of a process that ended by itself; nobody but the nemesis starts it again.
const Exited history.ProcState = "exited"

// patience is how many polls a view outlives without being confirmed.
const patience = 4

// tracker follows one node through a history.
type tracker struct {
	poll      time.Duration // between two observations; 0 where nobody polls: then a view holds until the next
	stands    bool          // what the node announces holds until it announces something else
	segs      []Segment
	cur       Segment
	announced time.Duration // when the node last spoke by itself
	reviving  bool          // the nemesis is bringing the process back
}

func newTracker(poll time.Duration) *tracker {
	return &tracker{poll: poll, cur: Segment{State: history.Up}, announced: -1}
}

// newListener is a tracker of a node that nobody asks, since what it announces holds until it announces something else.
func newListener() *tracker {
	k := newTracker(0)
	k.stands = true
	return k
}

// observe takes an answer that arrived at t to a question asked at asked. The answer may have been under way for a
// while: what the node announced in the meantime is newer.
func (k *tracker) observe(asked, t time.Duration, v history.View) {
	if k.announced > asked && k.cur.Known && v != k.cur.View {
		return
	}
	k.see(t, v)
}

// announce takes what the node said by itself. Until then it was what it had been.
func (k *tracker) announce(t time.Duration, v history.View) {
	if k.cur.Known && k.cur.State == history.Up {
		k.cur.Seen = t
	}
	k.announced = t
	k.see(t, v)
}

func (k *tracker) see(t time.Duration, v history.View) {
	if k.cur.State != history.Up && !Still(k.cur.State) {
		if !k.reviving {
			return // an answer that was under way when the process died
		}
		k.become(t, history.Up)
	}
	if !k.cur.Known || v != k.cur.View || k.lost(t) {
		k.close(t)
		k.cur.Known, k.cur.View = true, v
	}
	k.cur.Seen = t
}

// become takes a change of the process's state.
func (k *tracker) become(t time.Duration, s history.ProcState) {
	k.reviving = false
	if s == k.cur.State {
		return
	}
	k.close(t)
	switch {
	case Still(s):
	case Still(k.cur.State) && s == history.Up:
		k.cur.Seen = t // it wakes up as what it was
	default:
		k.cur.Known, k.cur.View = false, history.View{}
	}
	k.cur.State = s
}

// Still reports whether a process in that state does nothing, and goes on as what it was.
func Still(s history.ProcState) bool { return s == history.Paused || s == history.Frozen }

// lost reports whether the last sign of life is too old at t to tell what the node is.
func (k *tracker) lost(t time.Duration) bool {
	return k.cur.Known && k.cur.State == history.Up && k.poll > 0 && t-k.cur.Seen > patience*k.poll
}

// close ends the segment under way at t.
func (k *tracker) close(t time.Duration) {
	if k.stands && k.cur.Known && k.cur.State == history.Up {
		k.cur.Seen = t
	}
	c := k.cur
	c.To = t
	if k.lost(t) {
		c.To = c.Seen + k.poll
		k.push(c)
		c = Segment{Span: Span{c.To, t}, State: history.Up}
	}
	k.push(c)
	k.cur.From = t
}

func (k *tracker) push(s Segment) {
	if s.Length() <= 0 {
		return
	}
	if n := len(k.segs); n > 0 {
		if last := &k.segs[n-1]; last.State == s.State && last.Known == s.Known && last.View == s.View {
			last.To, last.Seen = s.To, s.Seen
			return
		}
	}
	k.segs = append(k.segs, s)
}

// finish ends the line at the run's end.
func (k *tracker) finish(end time.Duration) []Segment {
	k.close(end)
	return k.segs
}

// Claim is one leadership as its node claimed it.
type Claim struct {
	Span
	Node int
	View history.View
	Seen time.Duration // the last sign of it: up to there the claim is certain, after it likely
	Row  int
}

// claims returns the leaderships in a node's line. A leader that was paused goes on to claim.
func claims(node int, segs []Segment) (cs []Claim) {
	for _, s := range segs {
		if !s.Known || !s.View.Claims() {
			continue
		}
		if n := len(cs); n > 0 {
			if c := &cs[n-1]; c.To == s.From && c.View == s.View {
				c.To, c.Seen = s.To, s.Seen
				continue
			}
		}
		cs = append(cs, Claim{Span: s.Span, Node: node, View: s.View, Seen: s.Seen})
	}
	return cs
}

// overlaps returns when two or more nodes certainly claimed to lead at once. sharp tells those in one term.
func overlaps(cs []Claim) (all []Span, sharp []bool) {
	for i := range cs { // cs is in order of time
		for j := i + 1; j < len(cs) && cs[j].From < cs[i].To; j++ {
			if o := (Span{cs[j].From, min(cs[i].Seen, cs[j].Seen)}); o.Length() > 0 && cs[i].Node != cs[j].Node {
				all = append(all, o)
				sharp = append(sharp, cs[i].View.Term == cs[j].View.Term && cs[i].View.Term > 0)
			}
		}
	}
	return all, sharp
}

// coarsen merges neighbours until no more than limit segments are left. Each that stands for several shows the most that
// the node was in the meantime: a leadership is never lost, however short.
func coarsen(segs []Segment, limit int) []Segment {
	if len(segs) <= limit {
		return segs
	}
	whole := Span{segs[0].From, segs[len(segs)-1].To}
	quantum := whole.Length()/time.Duration(max(1, limit/2)) + 1
	var out []Segment
	for _, s := range segs {
		n := len(out)
		if n == 0 || s.Length() >= quantum || out[n-1].From/quantum != s.From/quantum || out[n-1].Length() >= quantum {
			out = append(out, s)
			continue
		}
		last := &out[n-1]
		merged := *last
		if weight(s) > weight(*last) {
			merged = s
		}
		merged.Span, merged.Seen, merged.Parts = Span{last.From, s.To}, s.Seen, max(1, last.Parts)+1
		*last = merged
	}
	return out
}

// weight is how much a segment must not get lost.
func weight(s Segment) int {
	switch {
	case s.Known && s.View.Role == history.Leader:
		return 4
	case s.State != history.Up:
		return 3
	case s.Known && s.View.Role == history.Candidate:
		return 2
	case s.Known:
		return 1
	}
	return 0
}
