package report

import (
	"slices"
	"time"

	"recount/harness/record"
	"recount/history"
)

// The table of ops holds the evidence, what happened around it, and what the nemesis did, as far as there is room: never the whole history.

const (
	maxEvidence = 300 // ops of evidence, of all verdicts together
	maxRows     = 600
	around      = 3   // ops of context before and after each
	sight       = 400 // how far to look for them
)

// row is one op in the table.
type row struct {
	*history.Op
	Words   string
	Took    time.Duration // since its invoke
	Flags   []*violation  // the violations that it is evidence of
	Cited   bool          // some verdict names it
	Skipped int           // ops left out before it
}

// table selects the ops worth showing, in order.
func (tl *Timeline) table(r *record.Run) []row {
	if r.History == nil {
		return nil
	}
	h := r.History
	flags, cited := map[int][]*violation{}, map[int]bool{}
	for i := range tl.Violations {
		f := &tl.Violations[i]
		for _, op := range f.Verdict.Ops {
			flags[op] = append(flags[op], f)
		}
	}
	for _, v := range ranked(r) {
		for _, op := range v.Ops {
			if len(cited) < maxEvidence {
				cited[op] = true
			}
		}
	}
	telling := tellingOps(h)
	chosen := map[int]bool{}
	for i := range h.Ops {
		op := &h.Ops[i]
		if cited[op.Index] {
			chosen[i] = true
		}
	}
	for _, i := range sortedInts(chosen) {
		for _, step := range []int{-1, 1} {
			for j, found := i+step, 0; found < around && j >= 0 && j < len(h.Ops) && (j-i)*step <= sight; j += step {
				if telling[j] {
					found++
					if len(chosen) < maxRows {
						chosen[j] = true
					}
				}
			}
		}
	}
	for i := range h.Ops {
		if ofNemesis(&h.Ops[i]) && len(chosen) < maxRows {
			chosen[i] = true
		}
	}
	var rows []row
	last := -1
	for _, i := range sortedInts(chosen) {
		op := &h.Ops[i]
		o := row{Op: op, Words: Words(op), Flags: flags[op.Index], Cited: cited[op.Index], Skipped: i - last - 1}
		if k := h.Other(i); k >= 0 && op.Type != history.Invoke {
			o.Took = op.Time - h.Ops[k].Time
		}
		rows = append(rows, o)
		last = i
	}
	return rows
}

// ofNemesis reports whether an op tells what the nemesis has done.
func ofNemesis(op *history.Op) bool {
	return op.Process == history.Nemesis && op.Type != history.Invoke
}

// tellingOps marks the ops that tell something new: the ends of operations, and of observations only those that found a
// node changed.
func tellingOps(h *history.History) []bool {
	telling := make([]bool, len(h.Ops))
	views := map[string]history.View{}
	for i := range h.Ops {
		op := &h.Ops[i]
		switch op.F {
		case history.Observe, history.Announce:
			if op.Type == history.OK && views[op.Node] != op.View {
				views[op.Node] = op.View
				telling[i] = true
			}
		default:
			telling[i] = op.Type != history.Invoke
		}
	}
	return telling
}

func sortedInts(set map[int]bool) []int {
	list := make([]int, 0, len(set))
	for i := range set {
		list = append(list, i)
	}
	slices.Sort(list)
	return list
}
