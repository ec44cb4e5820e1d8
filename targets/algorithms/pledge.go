package algorithms

import (
	"time"

	"recount/election"
	"recount/targets"
)

// pledge is a member's word to support one leader and no other until a time. A leader that has the pledges of a
// majority is the only one, for as long as they surely last. Pledges are not on disk: who starts is bound to nobody
// knows whom, for the length of a pledge.
type pledge struct {
	length time.Duration
	to     election.ID
	asked  time.Duration // when its holder asked for it, on the holder's clock
	until  time.Duration
}

// bind pledges support from now on, as was asked for at a time. Of two requests by one the later counts, whichever comes
// first.
func (p *pledge) bind(to election.ID, asked, now time.Duration) {
	if p.to == to {
		asked = max(asked, p.asked)
	}
	p.to, p.asked, p.until = to, asked, now+p.length
}

// unbind takes the pledge back: this node does not need its own any more.
func (p *pledge) unbind() { p.to, p.until = election.None, never }

// released takes the pledge back because its holder has said, at a time on its clock, that it does not need it any more.
// It does not if it has asked for it again since: messages overtake each other.
func (p *pledge) released(by election.ID, at time.Duration) bool {
	if p.to != by || p.asked >= at {
		return false
	}
	p.unbind()
	return true
}

// free reports whether support may be pledged to somebody.
func (p *pledge) free(to election.ID, now time.Duration) bool { return p.to == to || now >= p.until }

// support is what a node has of others' pledges.
type support struct {
	acks  contacts      // when what each member has granted last was asked for, on this node's clock
	since time.Duration // when this node last began to ask: nothing granted to an earlier request counts
}

func newSupport(size int) support {
	s := support{acks: newContacts(size)}
	s.acks.reset(never)
	return s
}

// granted takes note of a pledge, by when it was asked for.
func (s *support) granted(by election.ID, asked time.Duration) { s.acks[by] = max(s.acks[by], asked) }

// lasts reports whether a majority, this node included, is surely pledged to it for so long: a pledge that was asked
// for at a time began later, and clocks may drift apart by a tenth.
func (s *support) lasts(self election.ID, now, length time.Duration) bool {
	return s.acks.majority(self, max(s.since, now-length*9/10))
}

// leaseClock is the clock that a node measures leases by: the monotonic one or, as is often done, the one on the wall.
type leaseClock struct {
	env  election.Env
	wall bool
}

func (c leaseClock) read() time.Duration {
	if c.wall {
		return time.Duration(c.env.Wall().UnixNano())
	}
	return c.env.Now()
}

// clockOption chooses a leaseClock. By a clock that may be set nobody is alone with a lease, and a node may believe long
// after that it has not run out: its own, or another's, so that it names who leads no more, and keeps those who would.
func clockOption() targets.Option {
	return targets.Option{
		Name: "clock", Kind: targets.Choice, Default: "monotonic", Choices: []string{"monotonic", "wall"},
		About: "the clock that leases are measured by", Breaks: []string{"exclusive-leadership", "agreement", "quorum", "learns-leader", "elects"},
	}
}
