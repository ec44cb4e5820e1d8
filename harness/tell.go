package harness

import (
	"fmt"

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
	line := fmt.Sprintf("%7.2fs %s: %s", op.Time.Seconds(), action(op), outcome)
	if op.Error != "" {
		line += ": " + op.Error
	}
	return line
}

// news are what is told of a run while it is made.
type news struct {
	leads leads
	begun *history.Op // what the nemesis has begun, and nobody was told of yet
}

// lines tells what an op has brought. What the nemesis does is told when it is known what came of it; where something happens before
// that, what may be its cause is told first.
func (n *news) lines(op *history.Op) (lines []string) {
	if op.Process == history.Nemesis {
		if op.Type == history.Invoke {
			begun := *op // ops are not to be kept
			n.begun = &begun
			return nil
		}
		n.begun = nil
		return []string{describe(op)}
	}
	line := n.leads.see(op)
	if line == "" {
		return nil
	}
	if n.begun != nil {
		lines = append(lines, fmt.Sprintf("%7.2fs %s begins", n.begun.Time.Seconds(), action(n.begun)))
		n.begun = nil
	}
	return append(lines, line)
}

// action names what the nemesis does: "inject cut-link n1 n3".
func action(op *history.Op) string {
	return string(op.F) + " " + op.Fault.Title()
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

// tell reports the nemesis's actions and changes of leader as they happen.
func (r *run) tell(op *history.Op) {
	for _, line := range r.news.lines(op) {
		r.Progress(line)
	}
}
