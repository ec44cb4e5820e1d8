package checkers

import "recount/history"

// gather returns what is gathered of a history for all checkers.
func gather(h *history.History) *facts { return judging(h).facts }

// judging has taken all of a history, and given no verdict yet.
func judging(h *history.History) *Judging {
	j := Begin()
	for i := range h.Ops {
		j.Add(&h.Ops[i])
	}
	j.release()
	j.finish()
	return j
}

// usesIn are what clients did in a history.
func usesIn(h *history.History) *uses {
	for _, w := range judging(h).watchers {
		if u, ok := w.(*uses); ok {
			return u
		}
	}
	return nil
}

// objects are the registers and locks of a history.
func objects(h *history.History) []*object { return usesIn(h).objects() }
