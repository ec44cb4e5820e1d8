package workloads

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"recount/election"
	"recount/history"
	"recount/internal/hint"
)

// Workload is one thing that clients do in a run. It registers itself from its own file.
type Workload struct {
	Name  string // command-line word: "register"
	About string // one line: what the clients do
	// Needs is what nodes must be able to do for it; 0 is nothing.
	Needs election.Verb
	// Ops are the kinds of ops that it makes.
	Ops []history.F
	// Serves are the properties of which nothing can be seen without it: a hunt for one of them has it.
	Serves []string
	// Writes says that each node has a writer beside it, and what the resource does that they write to.
	Writes Writes
	// First and Clients are its place among the processes of all workloads' clients: no two overlap, so that a stored run
	// can be made again whatever other workloads there are by then.
	First, Clients int
	// Start begins what the clients do, and returns what stops it; nil where there is nothing but Writes.
	Start func(s Scene) (stop func())
}

// Writes is whether nodes have writers, and what the resource does with their stale writes.
type Writes uint8

// What a resource does.
const (
	NoWrites    Writes = iota
	RefuseStale        // a fence: a write whose token is lower than one it has accepted is refused
	AcceptStale        // it takes them, and the history shows what a fence would have stopped
)

// Scene is what a workload is given when it starts.
type Scene struct {
	Cluster  Cluster
	Recorder *history.Recorder
	Nodes    []string
	Leader   func() string // the node last seen to lead, or ""
	Bounds   history.Bounds
	Rand     *rand.Rand      // the workload's own
	First    history.Process // of its clients
	Stride   history.Process // from a process that is lost to the one that takes its place
}

var registry = map[string]*Workload{}

// register adds a workload; a name registered twice, or processes that are another's, are a programming error.
func register(w *Workload) {
	for _, o := range registry {
		if o.Name == w.Name || o.First < w.First+w.Clients && w.First < o.First+o.Clients {
			panic(fmt.Sprintf("workloads: %s and %s have the same name or the same processes", o.Name, w.Name))
		}
	}
	registry[w.Name] = w
}

// All returns every workload, by name.
func All() []*Workload {
	all := make([]*Workload, 0, len(registry))
	for _, w := range registry {
		all = append(all, w)
	}
	slices.SortFunc(all, func(a, b *Workload) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Find returns the workload of that name.
func Find(name string) (*Workload, error) {
	if w := registry[name]; w != nil {
		return w, nil
	}
	var known []string
	for n := range registry {
		known = append(known, n)
	}
	return nil, hint.Unknown("workload", name, known)
}

// Named returns the workloads of these names, each once, in the order in which they start: by their clients' place, so that
// a further one changes nothing for the others.
func Named(names []string) []*Workload {
	named := slices.DeleteFunc(All(), func(w *Workload) bool { return !slices.Contains(names, w.Name) })
	slices.SortStableFunc(named, func(a, b *Workload) int { return a.First - b.First })
	return named
}

// Serving returns the names of the workloads without which nothing can be seen of a property, or with "", of any.
func Serving(property string) (names []string) {
	for _, w := range All() {
		if slices.Contains(w.Serves, property) || property == "" && len(w.Serves) > 0 {
			names = append(names, w.Name)
		}
	}
	return names
}

// WritesOf is what the resource does in a run with these workloads: it takes stale writes if one of them wants it to.
func WritesOf(all []*Workload) (w Writes) {
	for _, o := range all {
		w = max(w, o.Writes)
	}
	return w
}

// leastRoom is how many processes clients have at least where there are any.
const leastRoom = 5

// ClientProcesses is how many processes the clients of these workloads take.
func ClientProcesses(all []*Workload) (room int) {
	for _, w := range all {
		if w.Clients > 0 {
			room = max(room, leastRoom, w.First+w.Clients)
		}
	}
	return room
}
