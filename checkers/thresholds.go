package checkers

import (
	"cmp"

	"recount/history"
)

// The thresholds that do for any election.
const (
	// A fault may well cost one leader the post, and an election that goes wrong once another: there and back again,
	// twice, is how two nodes look that cannot agree.
	defaultMoves   = 4
	defaultReturns = 3
	// One campaign may be under way when a node is cut off, one may follow before it notices, and one more may come from a
	// node that is cut off together with it.
	defaultTerms = 3
)

// Thresholds returns the bounds that an election is judged by: those given, and defaults for the rest.
func Thresholds(b history.Bounds) history.Bounds {
	b.Moves = cmp.Or(b.Moves, defaultMoves)
	b.Returns = cmp.Or(b.Returns, min(defaultReturns, b.Moves-1))
	b.Terms = cmp.Or(b.Terms, defaultTerms)
	return b
}
