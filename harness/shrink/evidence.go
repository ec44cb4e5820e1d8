package shrink

import (
	"cmp"
	"fmt"

	"recount/history"
)

// says is what a node says of itself and of who leads: "n2 says that it follows n1 in term 3".
func says(setup *history.Setup, op *history.Op) string {
	v := op.View
	words := map[history.Role]string{history.Leader: "leads", history.Follower: "follows", history.Candidate: "campaigns"}[v.Role]
	if words == "" {
		words = fmt.Sprintf("is %v", v.Role)
	}
	words = op.Node + " says that it " + words
	switch {
	case v.Leader == "" || v.Leader == op.Node:
	case v.Role == history.Follower:
		words += " " + v.Leader
	default:
		words += ", and that " + v.Leader + " leads"
	}
	return words + inTerm(setup, v)
}

// inTerm is the term that a node tells with a view, or "" where it tells none: a 0 stands there then, which in an election with
// terms is the word of one that knows of no other.
func inTerm(setup *history.Setup, v history.View) string {
	if setup != nil && v.Term == 0 && (setup.NoTerms || setup.Tokens && v.Role != history.Leader) {
		return ""
	}
	return fmt.Sprintf(" in term %d", v.Term)
}

// did is a sentence of an operation that has ended, or of what was seen to happen.
func did(op *history.Op) string {
	who := cmp.Or(op.Node, fmt.Sprintf("client %v", op.Process))
	words := fmt.Sprintf("%s: %s", who, op.F)
	switch reg, u := op.Reg, op.Update(); {
	case op.F == history.Apply && u != nil:
		words = fmt.Sprintf("%s applies update %d of term %d", who, u.Counter, u.Term)
		if u.From != "" {
			words += ", from " + u.From
		}
		return words
	case op.F == history.Alarm:
		return fmt.Sprintf("%s raises an alarm: %s", who, op.Error)
	case op.F == history.Read:
		words = fmt.Sprintf("%s reads %d, written with token %d", who, op.Access.Value, op.Access.Token)
	case reg == nil:
	case op.F == history.Get:
		words = fmt.Sprintf("%s reads%s %q", who, key(reg), reg.Value)
	case op.F == history.Put:
		words = fmt.Sprintf("%s writes%s %q", who, key(reg), reg.Value)
	case op.F == history.CAS:
		words = fmt.Sprintf("%s writes%s %q in the place of %q", who, key(reg), reg.Value, reg.Old)
	case op.F == history.Acquire:
		words = fmt.Sprintf("%s takes the lock%s", who, key(reg))
	case op.F == history.Release:
		words = fmt.Sprintf("%s gives the lock%s back", who, key(reg))
	}
	return fmt.Sprintf("%s: %v", words, op.Type)
}

// key names which of several registers or locks it is.
func key(r *history.Register) string {
	if r.Key == "" {
		return ""
	}
	return " " + r.Key
}
