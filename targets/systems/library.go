package systems

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"recount/docker/recipes"
	"recount/election"
	"recount/targets"
)

// Library is a raft library in a server that does nothing but elect by it, whose main package is Recount's own, in the library's
// recipe. It answers GET /status with its view, of type V, as one object, and prints the same object when the library tells of a
// change. A driver embeds it.
type Library[V View] struct {
	Name    string // of the target, of the recipe, and of the program
	Version string
}

// NewLibrary is one by its option version: an error if there is no recipe for that.
func NewLibrary[V View](name string, o targets.Options) (Library[V], error) {
	l := Library[V]{name, o.Value("version")}
	return l, CheckVersion("version", l.Image())
}

// Image names the recipe.
func (l Library[V]) Image() election.Image {
	return election.Image{Recipe: l.Name, Version: l.Version}
}

// The ports of each member: where the others reach it, and where it tells its view.
const (
	RaftPort   = 7000
	StatusPort = 7001
)

// Start is how a member is started: by what it is called itself, what all of them are called and where they are, as the library
// has it, and by the library's own flags.
func (l Library[V]) Start(self election.Member, id, members string, flags ...string) election.Container {
	return election.Container{
		Data: "/data",
		Command: append([]string{
			"/usr/bin/" + l.Name,
			"--id=" + id,
			"--members=" + members,
			"--status=" + netip.AddrPortFrom(EveryAddr(self.Addr), StatusPort).String(),
			"--data=/data/raft",
		}, flags...),
	}
}

// Observer asks a member for its view.
func (l Library[V]) Observer(self election.Member, _ []election.Member, dial election.Dial) election.Observer {
	return &viewObserver[V]{NewAsker(dial, StatusPort), l.Name, self.ID}
}

// LibraryRecipe is how the server of a library is made with each version that a pattern lets through: of a main and a go.mod, in
// which VERSION stands for the library's.
func LibraryRecipe(versions *regexp.Regexp, name, main, mod string) func(version string) recipes.Recipe {
	return func(version string) recipes.Recipe {
		if !versions.MatchString(version) {
			return nil
		}
		return recipes.GoMain{
			Main: main,
			Mod:  strings.ReplaceAll(mod, "VERSION", version),
			Path: "usr/bin/" + name,
		}
	}
}

// View is what such a server says.
type View interface {
	// Status is what it says; it is an error if it is not self's, or says nothing yet. torn tells that its parts may not
	// belong together.
	Status(self election.ID) (s election.Status, torn bool, err error)
}

// viewObserver asks such a server.
type viewObserver[V View] struct {
	*Asker
	target string // for errors
	self   election.ID
}

// Observe asks for the view.
func (o *viewObserver[V]) Observe(ctx context.Context) (election.Status, bool, error) {
	var v V
	err := o.Ask(ctx, "/status", &v)
	if err == nil {
		var s election.Status
		var torn bool
		if s, torn, err = v.Status(o.self); err == nil {
			return s, torn, nil
		}
	}
	return election.Status{}, false, fmt.Errorf("%s: observe %v: %w", o.target, o.self, err)
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
