package systems

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"

	"recount/election"
)

// Libraries run in a server whose main package is Recount's own, in the library's recipe. It answers GET /status with its
// view, as one object, and prints the same object when the library tells of a change.

// View is such an object.
type View interface {
	// Status is what it says; it is an error if it is not self's, or says nothing yet. torn tells that its parts may not
	// belong together.
	Status(self election.ID) (s election.Status, torn bool, err error)
}

// ViewObserver asks such a server, whose views are of type V.
type ViewObserver[V View] struct {
	*Asker
	Target string // for errors
	Self   election.ID
}

// Observe asks for the view.
func (o *ViewObserver[V]) Observe(ctx context.Context) (election.Status, bool, error) {
	var v V
	err := o.Ask(ctx, "/status", &v)
	if err == nil {
		var s election.Status
		var torn bool
		if s, torn, err = v.Status(o.Self); err == nil {
			return s, torn, nil
		}
	}
	return election.Status{}, false, fmt.Errorf("%s: observe %v: %w", o.Target, o.Self, err)
}

// ReadView reads a line of such a server's log: false if it is no view.
func ReadView[V View](self election.ID, line string) (election.Status, bool) {
	var v V
	if !strings.HasPrefix(line, `{"id":`) || json.Unmarshal([]byte(line), &v) != nil {
		return election.Status{}, false
	}
	status, _, err := v.Status(self)
	return status, err == nil
}

// RoleView is the view of a library that names its state and the leader. The main that answers with it puts the parts together so
// that they belong together, or says that they may not.
type RoleView struct {
	ID     string `json:"id"`
	State  string `json:"state"`
	Term   uint64 `json:"term"`
	Leader string `json:"leader"`
	Torn   bool   `json:"torn"`
}

// StatusBy is what it says, by the role that each state is.
func (v RoleView) StatusBy(roles map[string]election.Role, self election.ID) (s election.Status, torn bool, err error) {
	role, ok := roles[v.State]
	if !ok {
		return election.Status{}, false, fmt.Errorf("raft state %q is none of those known", v.State)
	}
	if v.ID != self.String() {
		return election.Status{}, false, fmt.Errorf("the answer is that of %q", v.ID)
	}
	return election.Status{Role: role, Term: v.Term, Leader: MemberNamed(v.Leader)}, v.Torn, nil
}

// NamedAddrs are all members by name with their addresses at a port, as in "n1=10.0.0.1:7000", with commas between.
func NamedAddrs(all []election.Member, port uint16) string {
	named := make([]string, len(all))
	for i, m := range all {
		named[i] = m.ID.String() + "=" + netip.AddrPortFrom(m.Addr, port).String()
	}
	return strings.Join(named, ",")
}

// MemberNamed returns the member of that name; None for "" and for what is no name of a member's.
func MemberNamed(name string) election.ID {
	var id election.ID
	if _, err := fmt.Sscanf(name, "n%d", &id); err != nil || id.String() != name {
		return election.None
	}
	return id
}
