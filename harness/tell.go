package harness

import (
	"fmt"
	"strings"

	"recount/history"
)

// describe is one line about what the nemesis did: "  3.10s inject cut-link n1 n3: took effect".
func describe(op *history.Op) string {
	outcome := map[history.Type]string{history.OK: "took effect", history.Fail: "DID NOT TAKE EFFECT", history.Info: "not known to have taken effect"}[op.Type]
	if op.F == history.Heal && op.Type == history.OK {
		outcome = "healed"
	}
	if op.Fault.Found {
		outcome = "came true in part: " + op.Fault.Came()
	}
	what := strings.Join(append([]string{string(op.F), op.Fault.Name}, op.Fault.Nodes...), " ")
	line := fmt.Sprintf("%7.2fs %s: %s", op.Time.Seconds(), what, outcome)
	if op.Error != "" {
		line += ": " + op.Error
	}
	return line
}

// leads tells of leaderships as they are first seen, whether nodes announce them or are asked.
type leads map[string]history.View // by the nodes that lead

// see returns one line about the leadership that an op shows, or "" if it shows none or is not the first to do so.
func (l leads) see(op *history.Op) string {
	if op.Type != history.OK || op.F != history.Observe && op.F != history.Announce {
		return ""
	}
	was, led := l[op.Node]
	switch {
	case op.View.Claims() && led && was == op.View:
		return ""
	case !op.View.Claims() && op.View.Term < was.Term: // an answer from before what its log has told since
		return ""
	case !op.View.Claims():
		delete(l, op.Node)
		return ""
	}
	l[op.Node] = op.View
	line := fmt.Sprintf("%7.2fs %s leads", op.Time.Seconds(), op.Node)
	if op.View.Term > 0 {
		line += fmt.Sprintf(" in term %d", op.View.Term)
	}
	return line
}
