// Package testled tells tests of whole runs which nodes led, and whom the others took for the leader.
package testled

import "recount/history"

// ByNode returns which nodes said that they lead, and which nodes others named as the leader, as far as they answered.
func ByNode(h *history.History) (led, named map[string]bool) {
	led, named = map[string]bool{}, map[string]bool{}
	for _, op := range h.Ops {
		switch {
		case op.F != history.Observe || op.Type != history.OK:
		case op.View.Role == history.Leader:
			led[op.Node] = true
		case op.View.Leader != "":
			named[op.View.Leader] = true
		}
	}
	return led, named
}
