// Package nemesis breaks clusters, on a schedule that is data, and puts down in the history what it did.
//
// A fault says which states it imposes on links, processes, clocks and disks, over time; it is pure. The nemesis adds up what
// all faults under way impose, asks the cluster to make it so, and records whether it was seen to take effect. Healing
// a fault is to stop imposing it, so no fault can forget how to heal, and faults may overlap.
package nemesis

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"recount/history"
	"recount/internal/hint"
	"recount/internal/option"
)

// Fault is one way to break a cluster. A fault registers itself from its own file.
type Fault struct {
	Name    string // command-line word: "cut-link"
	About   string // one line: what the nodes get to feel
	Aims    []Aim  // the nodes it is aimed at, one word of a step each
	Options []option.Option
	// Ports tells that the fault changes links alone, and can be limited to some of their ports: it is given the option ports, and
	// need not handle it.
	Ports bool
	// Clocks tells that the fault changes clocks. A run with such a fault prepares them for it, and reads them throughout.
	Clocks bool
	// Disks tells that the fault needs disks that can fail, or lose what was not synced. A run with such a fault puts the nodes'
	// data on them.
	Disks bool
	// Parts tells that the fault can be aimed at a part of a node: n1/agent, leader/agent.
	Parts bool
	// Named tells that the fault is drawn only where it is named, not as one of all: it takes away what every election that keeps
	// anything rests on, and leaves the run little to say; or only containers can do it.
	Named bool
	// Contained tells that only containers can do it.
	Contained bool
	// Events tells that the fault is aimed at something that happens, such as a message of some kind. It is drawn only where it is
	// named, and by hunts.
	Events bool
	// Blind tells of a fault with Events that it makes sense where nobody knows what messages mean, as with real servers.
	Blind bool
	// Asks tells that the fault asks nodes for something, which not every election can do. It is healed as soon as they have
	// answered, or have not for long enough.
	Asks bool
	// Members tells that the fault changes who is a member of the cluster, which not every election can do. A heal that fails is
	// tried again.
	Members bool
	// Learners tells of a fault with Members that whom it adds is a learner at first.
	Learners bool
	// Own tells that the fault is one that the target describes itself, by its name in an option. A heal that fails is tried again.
	Own bool
	// Sides tells that a step may name more sets of nodes than there are aims.
	Sides bool
	// Draw chooses options for a random schedule whose faults hold for about that long. Where it is nil, or chooses nothing, they
	// are the defaults.
	Draw func(hold time.Duration, rnd *rand.Rand) map[string]string
	// Shape says what the fault imposes in a scene. It is called once, when the fault fires.
	Shape func(s Scene) Shape
}

// Aim is one place for a word in a step: what it is for, and the word that it holds where the step names none. Without a default it
// may stay empty, and no aim after it has a default.
type Aim struct {
	What    string
	Default string
}

// Scene is what a fault is given when it fires.
type Scene struct {
	ID      int        // the fault's number in its run
	Aims    [][]string // the nodes that each word resolved to
	All     []string   // all nodes, in the order of their ids
	Voters  []string   // those of which a leader takes a majority: those that vote, or the servers that the others elect through, or else all
	Options option.Values
	Rand    *rand.Rand // the fault's own
}

// Others returns all nodes but those.
func (s Scene) Others(but ...string) []string {
	return slices.DeleteFunc(slices.Clone(s.All), func(n string) bool { return slices.Contains(but, n) })
}

// shuffled returns the same nodes in a random order.
func (s Scene) shuffled(nodes []string) []string {
	nodes = slices.Clone(nodes)
	s.Rand.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	return nodes
}

// Shape is what a fault imposes over time: the changes of each phase hold for its duration and then give way to the
// next. The last phase holds until the fault is healed, or with Repeat is followed by the first.
type Shape struct {
	Phases []Phase
	Repeat bool
}

// Phase is one stretch of a fault.
type Phase struct {
	For time.Duration
	history.Changes
	// Sprung tells that the phase lasts until a trap of it springs, however long that is. What the trap has done is imposed in
	// the phase that follows, in the place of its Changes.
	Sprung bool
	// Then, if it is set, says what is imposed, in the place of Changes. It is given the nodes that Words mean when the phase
	// begins; in the first phase, those that the step's words mean. While they mean nobody, or Then returns false for "not yet",
	// the phase before goes on.
	Words []string
	Then  func(aims [][]string) (history.Changes, bool)
}

// constant is the shape of a fault that imposes one state until it is healed.
func constant(c history.Changes) Shape { return Shape{Phases: []Phase{{Changes: c}}} }

// links brings every link from a node of one set to a node of the other into a state, in that direction.
func links(from, to []string, s history.LinkState) (links []history.Link) {
	for _, a := range from {
		for _, b := range to {
			if a != b {
				links = append(links, history.Link{From: a, To: b, LinkState: s})
			}
		}
	}
	return links
}

// between cuts every link from a node of one set to a node of the other, in that direction.
func between(from, to []string) []history.Link { return links(from, to, history.LinkState{Cut: true}) }

// apart cuts two sets of nodes off from each other, both ways.
func apart(a, b []string) history.Changes {
	return history.Changes{Links: append(between(a, b), between(b, a)...)}
}

// ports is the option of all faults that may be limited to some.
var ports = option.Option{
	Name: "ports", Kind: option.Ports, Default: "all", About: "only packets from or to these ports, such as the election's",
}

// limited returns the same changes to the links of these ports alone.
func limited(c history.Changes, ports []int) history.Changes {
	if len(ports) == 0 {
		return c
	}
	var links []history.Link
	for _, l := range c.Links {
		for _, p := range ports {
			l.Port = p
			links = append(links, l)
		}
	}
	c.Links = links
	return c
}

var registry = map[string]*Fault{}

// register adds a fault; a name registered twice is a programming error.
func register(f *Fault) {
	if registry[f.Name] != nil {
		panic("nemesis: fault registered twice: " + f.Name)
	}
	if f.Ports {
		f.Options = append(f.Options, ports)
	}
	registry[f.Name] = f
}

// All returns every fault, by name.
func All() []*Fault {
	all := make([]*Fault, 0, len(registry))
	for _, f := range registry {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *Fault) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Drawn returns the names of the faults that a random schedule of all faults is drawn from.
func Drawn() (names []string) {
	for _, f := range All() {
		if !f.Named && !f.Events {
			names = append(names, f.Name)
		}
	}
	return names
}

// Find returns the fault of that name.
func Find(name string) (*Fault, error) {
	if f := registry[name]; f != nil {
		return f, nil
	}
	var known []string
	for n := range registry {
		known = append(known, n)
	}
	return nil, hint.Unknown("fault", name, known)
}
