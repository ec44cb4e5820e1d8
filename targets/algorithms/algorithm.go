// Package algorithms holds the elections that are built in as state machines, one file each: they run in simulation and in
// containers. Importing it registers them.
package algorithms

import (
	"math"
	"time"

	"recount/election"
)

// What the algorithms share: majorities, and what was heard of whom.

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
