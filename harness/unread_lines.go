package harness

import (
	"fmt"
	"strings"

	"recount/election"
	"recount/internal/hint"
)

// unreadLines counts lines of nodes' logs that announce a change and could not be read: who is not heard looks like one that says
// nothing.
type unreadLines struct {
	lines  map[string]int // by the node that wrote them
	first  error
	untold untold
}

// of has the lines counted that a system cannot read.
func (u *unreadLines) of(system election.System) {
	if critic, is := system.(election.LineCritic); is {
		critic.OnUnreadLine(func(self election.ID, err error) { u.add(self.String(), err) })
	}
}

func (u *unreadLines) add(node string, err error) {
	if u.untold.add(node, err) {
		return
	}
	if u.lines == nil {
		u.lines = map[string]int{}
	}
	if u.lines[node]++; u.first == nil {
		u.first = err
	}
}

// words say what could not be read, and what was the first of it; "" if everything could.
func (u *unreadLines) words() string {
	var parts []string
	if u.first != nil {
		parts = append(parts, fmt.Sprintf("Lines of logs that could not be read: %s. The first: %s.", ofEach(u.lines), hint.Line(u.first)))
	}
	if untold := u.untold.words("Lines of logs"); untold != "" {
		parts = append(parts, untold)
	}
	return strings.Join(parts, " ")
}
