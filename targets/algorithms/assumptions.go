package algorithms

import (
	"recount/history"
	"recount/targets"
)

// What several algorithms assume, and which faults take it away.

// wholeNetwork is the assumption of algorithms that know no partitions: a node that does not answer is dead.
const wholeNetwork = "every message between two running nodes arrives, and in time"

// driftsFar reports whether a change makes a clock drift by more than 5 %: two of them are then more than a tenth apart.
func driftsFar(did history.Changes) bool { return targets.DriftsMore(did, 0.05) }

// drifts reports whether a change makes a clock drift at all.
func drifts(did history.Changes) bool { return targets.DriftsMore(did, 0) }
