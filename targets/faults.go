package targets

import (
	"math"
	"slices"
	"time"

	"recount/history"
)

// What faults take away of what promises rest on: for Promise.Unless.

// BreaksLinks reports whether a change mistreats messages between nodes whose machines are not dead.
func BreaksLinks(did history.Changes) bool {
	dead := func(node string) bool {
		return slices.ContainsFunc(did.Procs, func(p history.Proc) bool {
			return p.Node == node && p.State == history.Crashed
		})
	}
	return slices.ContainsFunc(did.Links, func(l history.Link) bool {
		return l.LinkState != history.LinkState{} && !dead(l.From) && !dead(l.To)
	})
}

// SlowsLinks reports whether a change makes messages slow to arrive.
func SlowsLinks(did history.Changes) bool {
	return slices.ContainsFunc(did.Links, func(l history.Link) bool { return l.Delay > 0 || l.Jitter > 0 || l.Rate > 0 || l.Picked })
}

// PicksMessages reports whether a change has single messages lost, late or repeated, perhaps all of a kind: what answers or takes back
// a message may then always come before it.
func PicksMessages(did history.Changes) bool {
	return slices.ContainsFunc(did.Links, func(l history.Link) bool { return l.Picked })
}

// Delays reports whether a change makes messages slow to arrive, a disk slow to sync or a node slow to go on. A node that asks
// others before it campaigns, and then stores its new term, campaigns so much later on an answer that may no longer be true.
func Delays(did history.Changes) bool {
	return SlowsLinks(did) || Throttles(did) || SlowsDisks(did)
}

// SlowsDisks reports whether a change makes a disk slow to sync.
func SlowsDisks(did history.Changes) bool {
	return slices.ContainsFunc(did.Disks, func(d history.Disk) bool { return d.Slow > 0 })
}

// CutsOneWay reports whether a change cuts a link in one direction only.
func CutsOneWay(did history.Changes) bool {
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

// DriftsMore reports whether a change makes a clock drift by more than a share.
func DriftsMore(did history.Changes, share float64) bool {
	return slices.ContainsFunc(did.Clocks, func(k history.Clock) bool { return math.Abs(k.Drift) > share })
}

// JumpsFarther reports whether a change makes a wall clock jump by more than a time.
func JumpsFarther(did history.Changes, by time.Duration) bool {
	return slices.ContainsFunc(did.Clocks, func(k history.Clock) bool { return k.Offset.Abs() > by })
}

// SlowsAnswers reports whether a change delays messages on the way, or while their receiver stands still.
func SlowsAnswers(did history.Changes) bool {
	return Pauses(did) || SlowsLinks(did) || Throttles(did)
}

// Pauses reports whether a change has a process stand still, be it one of several of its node.
func Pauses(did history.Changes) bool {
	return slices.ContainsFunc(did.Procs, func(p history.Proc) bool {
		return p.State == history.Paused || p.State == history.Frozen
	}) || slices.ContainsFunc(did.Parts(), func(p history.Part) bool { return p.State == history.Paused })
}

// Kills reports whether a change ends a process, be it one of several of its node, or may by a trap or for want of memory, and its machine
// lives on.
func Kills(did history.Changes) bool {
	part := func(p history.Part) bool { return p.State == history.Down }
	return ends(did, history.Down) || slices.ContainsFunc(did.Parts(), part) || finishes(did, false) || slices.ContainsFunc(did.Memories(), history.Memory.Fails)
}

// Crashes reports whether a change has a machine die, or may by a trap.
func Crashes(did history.Changes) bool { return ends(did, history.Crashed) || finishes(did, true) }

// Stops reports whether a change has a process asked to end.
func Stops(did history.Changes) bool { return ends(did, history.Stopped) }

func ends(did history.Changes, how history.ProcState) bool {
	return slices.ContainsFunc(did.Procs, func(p history.Proc) bool { return p.State == how })
}

func finishes(did history.Changes, machine bool) bool {
	return slices.ContainsFunc(did.Traps(), func(t history.Trap) bool { return t.Do == history.Finish && t.Crash == machine })
}

// Throttles reports whether a change keeps a processor from a node, or memory, for want of which the kernel has it wait as well.
func Throttles(did history.Changes) bool {
	return slices.ContainsFunc(did.CPUs(), func(p history.CPU) bool { return p.Share > 0 }) ||
		slices.ContainsFunc(did.Memories(), history.Memory.Fails)
}

// StoresTerm is the promise of monotonic-term by a server that tells of its new term before it has stored it.
var StoresTerm = Promise{
	Property: "monotonic-term",
	While:    "no server ends between raising its term and storing it",
	Unless:   endsUnstored,
}

// endsUnstored reports whether changes end processes, and make disks or processors slow: what is stored within a millisecond
// otherwise may still have to be when its process ends. One that a trap ends is in the middle of something. Where a disk refuses to store
// it, servers end over that.
func endsUnstored(did history.Changes) bool {
	return finishes(did, false) || finishes(did, true) || (Kills(did) || Crashes(did)) && (SlowsDisks(did) || Throttles(did)) || RefusesWrites(did)
}
