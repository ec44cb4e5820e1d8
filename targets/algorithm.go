package targets

import (
	"math"
	"slices"
	"time"

	"recount/election"
	"recount/history"
)

// What the algorithms share: scaled times, majorities, sets of members and numbers on disk.

// scale is the option that every algorithm has, so that its sources' times can be kept and a run still be short.
func scale(by string) Option {
	return Option{Name: "scale", Kind: Number, Default: by, About: "what all of this target's times are multiplied by"}
}

// scaled returns a Duration option multiplied by scale, within what timers can keep to.
func scaled(o Options, name string) time.Duration {
	d := float64(o.Duration(name)) * o.Number("scale")
	return time.Duration(min(max(d, float64(100*time.Microsecond)), float64(1000*time.Hour)))
}

// majority is the smallest number of members that any other majority shares a member with.
func majority(size int) int { return size/2 + 1 }

// votes are the members that have said yes to one question. A member counts once, however often its answer arrives.
type votes struct {
	yes    []bool // by id
	count  int
	quorum int // how many it takes: a majority
}

func newVotes(size int) votes { return votes{yes: make([]bool, size+1), quorum: majority(size)} }

// reset begins a new question.
func (v *votes) reset() {
	clear(v.yes)
	v.count = 0
}

// add counts a member and reports whether those who said yes are a quorum.
func (v *votes) add(id election.ID) bool {
	if !v.yes[id] {
		v.yes[id] = true
		v.count++
	}
	return v.count >= v.quorum
}

// contacts are the times at which a leader last heard from each member.
type contacts []time.Duration

// never is before every time.
const never = time.Duration(math.MinInt64)

func newContacts(size int) contacts { return make(contacts, size+1) }

// reset takes every member as last heard from then.
func (c contacts) reset(then time.Duration) {
	for id := range c {
		c[id] = then
	}
}

// majority reports whether self and the members heard from since then are a majority.
func (c contacts) majority(self election.ID, since time.Duration) bool {
	return c.count(self, since) >= majority(len(c)-1)
}

// count is how many members were heard from since then, self included.
func (c contacts) count(self election.ID, since time.Duration) int {
	n := 1
	for id := 1; id < len(c); id++ {
		if election.ID(id) != self && c[id] >= since {
			n++
		}
	}
	return n
}

// broadcast sends m to everybody else.
func broadcast(env election.Env, m election.Message) {
	for id := election.ID(1); int(id) <= env.Size(); id++ {
		if id != env.ID() {
			env.Send(id, m)
		}
	}
}

// bounds are the times that an algorithm is judged by: what its own times come to, and a second for a machine that
// stutters. Polls are as frequent as heartbeats, so that a short leadership meets one.
func bounds(silence, elect, heartbeat time.Duration) history.Bounds {
	return history.Bounds{
		Silence: silence,
		Elect:   elect + time.Second,
		Poll:    max(min(heartbeat, 50*time.Millisecond), time.Millisecond),
	}
}

// wholeNetwork is what an algorithm assumes that knows no partitions: who does not answer is dead.
const wholeNetwork = "every message between two running nodes arrives, and in time"

// breaksLinks reports whether a change mistreats messages between nodes whose machines are not dead.
func breaksLinks(did history.Changes) bool {
	dead := func(node string) bool {
		return slices.ContainsFunc(did.Procs, func(p history.Proc) bool {
			return p.Node == node && p.State == history.Crashed
		})
	}
	return slices.ContainsFunc(did.Links, func(l history.Link) bool {
		return l.LinkState != history.LinkState{} && !dead(l.From) && !dead(l.To)
	})
}

// slowsLinks reports whether a change makes messages slow to arrive.
func slowsLinks(did history.Changes) bool {
	return slices.ContainsFunc(did.Links, func(l history.Link) bool { return l.Delay > 0 || l.Jitter > 0 || l.Rate > 0 })
}

// delays reports whether a change makes messages slow to arrive or a disk slow to sync. A node that asks others before it
// campaigns, and then stores its new term, campaigns so much later on an answer that may no longer be true.
func delays(did history.Changes) bool {
	return slowsLinks(did) || slices.ContainsFunc(did.Disks, func(d history.Disk) bool { return d.Slow > 0 })
}

// cutsOneWay reports whether a change cuts a link in one direction only.
func cutsOneWay(did history.Changes) bool {
	cut := map[[2]string]bool{}
	for _, l := range did.Links {
		cut[[2]string{l.From, l.To}] = l.Cut
	}
	for at, is := range cut {
		if is && !cut[[2]string{at[1], at[0]}] {
			return true
		}
	}
	return false
}

// driftsFar reports whether a change makes a clock drift by more than 5 %: two of them are then more than a tenth apart.
func driftsFar(did history.Changes) bool { return driftsMore(did, 0.05) }

// drifts reports whether a change makes a clock drift at all.
func drifts(did history.Changes) bool { return driftsMore(did, 0) }

// driftsMore reports whether a change makes a clock drift by more than a share.
func driftsMore(did history.Changes, share float64) bool {
	return slices.ContainsFunc(did.Clocks, func(k history.Clock) bool { return math.Abs(k.Drift) > share })
}
