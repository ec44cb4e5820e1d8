package history

import (
	"cmp"
	"fmt"
	"slices"

	"recount/internal/hint"
)

// numbers checks op after op, in the order of the lines, that no two have one index. Where indexes only rise, which is so of nearly all
// histories, the last is all that there is to know.
type numbers struct {
	last  int
	any   bool
	loose bool // somebody else's history: what became of its faults has the index of their begin
	fell  bool // an index is no higher than the one before it: it may be one for the second time
}

// take takes the next op. Begin may have the index of another: no verdict rests on it alone, and it is put before what is numbered.
func (n *numbers) take(op *Op) {
	if op.F == Begin {
		n.loose = op.Setup != nil && op.Setup.Model != ""
		return
	}
	n.fell = n.fell || n.any && !n.loose && op.Index <= n.last
	n.last, n.any = op.Index, true
}

// twice returns the place of the first op whose index another before it has, and that of the other, or -1.
func (n *numbers) twice(ops []Op) (second, first int) {
	second = -1
	if !n.fell {
		return second, -1
	}
	places := make([]int32, len(ops))
	for i := range places {
		places[i] = int32(i)
	}
	slices.SortStableFunc(places, func(a, b int32) int { return cmp.Compare(ops[a].Index, ops[b].Index) })
	for i := 1; i < len(places); i++ {
		a, b := int(places[i-1]), int(places[i])
		if ops[a].Index == ops[b].Index && ops[a].F != Begin && (second < 0 || b < second) {
			second, first = b, a
		}
	}
	return second, first
}

// errTwice says of an index that it is that of an op on another line.
func errTwice(index, line int) error {
	return hint.Add(fmt.Errorf("index %d is that of line %d, too: which of the two do verdicts mean by it?", index, line),
		"give each op a number of its own, or leave index out of all: it is the place in the file then, from 0")
}
