// Package targets says what an election under test is, and keeps the registry of them. It links none: whoever imports a
// target's own package has it registered; targets/builtin has all that are built in.
package targets

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"recount/election"
	"recount/history"
	"recount/internal/hint"
)

// Target is an election that Recount can run, and what it promises. Exactly one of Node and System is set. Where the same
// election is there as a model, for simulations, and for real, both register under one name, and the model has the real
// one in Real.
type Target struct {
	Name    string // command-line word: "raft-prevote"
	Called  string // what the file calls it that describes it; "" if none does
	About   string // one line
	Source  string // paper and section, or page
	Options []Option
	// Promises are the properties whose violation is a failure of the target, not a known weakness. That its nodes stay up
	// goes without saying.
	Promises []Promise
	// Unpromised are the properties that the target does not promise with these options, where more than one option
	// decides; Option.Breaks says it for a single one. It may be nil.
	Unpromised func(o Options) []string
	// Store is the member that all others elect through; 0 where they elect among themselves.
	Store election.ID
	// Voters are those of a number of nodes of which a leader takes a majority; with nil all vote. It is asked for the
	// candidates only, where these elect through servers.
	Voters func(o Options, nodes int) ([]election.ID, error)
	// NoTerms says that the election numbers no leaderships: its views carry term 0.
	NoTerms bool
	// NoTermsWith reports whether views carry no terms with these options: some versions do not tell them. It may be nil.
	NoTermsWith func(o Options) bool
	// NoLeaderNames says that no node names another as the leader. A run does not wait then for a majority that does.
	NoLeaderNames bool
	// Tokens says that nodes tell a term while they lead, as the holder of a lock does its token: term 0 in a view of who does
	// not lead says nothing.
	Tokens bool
	// Standing says that what a node announces by itself holds until it announces something else: its log is all that there
	// is, and it tells of every change.
	Standing bool
	// Begins is what a node is from the start of its process until it announces something, where it says nothing of that itself; nil where
	// it does.
	Begins *history.View
	// Bounds are the times that the target is judged by, from its options.
	Bounds func(o Options) history.Bounds

	// Node makes one member of an algorithm. It may read env but must not send or set timers before Start.
	Node func(o Options, env election.Env) election.Node
	// System makes the driver of a real system, for one run.
	System func(o Options) (election.System, error)
	// Servers is how many servers a run of System has, besides its candidates; nil where all members are peers.
	Servers func(o Options) int
	// Electors are the servers that the candidates elect through, by their names, where some of the servers are there for
	// something else; none where candidates elect among themselves. It may be nil: they elect through all.
	Electors func(o Options) []string
	// Size is how many nodes its clusters have where nobody says, servers not counted; 0 if that is no matter.
	Size int
	// Multicast has the network carry what nodes send to groups, and to addresses that they take besides their own.
	Multicast bool
	// Alarms says that lines of logs may be alarms: System is an election.Alarmer then, and the target promises that there are none.
	Alarms bool
	// Own are the names of the faults that the target has itself: System is an election.Afflicted then.
	Own []string
	// OwnByCommand says that nodes are asked for some of them by commands.
	OwnByCommand bool
	// Shared says that nodes share a folder.
	Shared bool
	// Processes are what the processes of a node are called that faults can be of alone, each with a pattern that their
	// command lines match.
	Processes map[string]string
	// Definition is the text of the file that describes the target; nil for those that are compiled in.
	Definition []byte
	// Parts are the files and folders of this machine that the nodes of such a target are made of, or asked by.
	Parts []string
	// Real is what runs in containers in the place of this model of it, with options, promises and bounds of its own.
	// Register sets it.
	Real *Target
}

// modelOption has a model run in containers, too.
var modelOption = Option{
	Name: "model", Kind: Bool, Default: "false", About: "in containers, run this model and not the real system",
}

// On is the target that runs in containers, or in simulation, with these options.
func (t *Target) On(containers bool, given map[string]string) *Target {
	if containers && t.Real != nil && given[modelOption.Name] != "true" {
		return t.Real
	}
	return t
}

// Promise is a property that a target promises, and on which assumption: "" is none.
type Promise struct {
	Property string
	While    string // "no vote is lost by the disk"
	// Unless reports whether something that the nemesis did takes the assumption away for the rest of the run, which then holds
	// nothing against the target. It is asked of each thing that it did, and of all of them, the states that they healed included.
	// It is nil where no fault can.
	Unless func(did history.Changes) bool
	// Suspended reports whether the assumption does not hold while what the nemesis did is in force, and for as long as an election
	// may take (Bounds.Elect) after it: what breaks later is held against the target. It is asked as Unless is, and may be nil, too.
	Suspended func(did history.Changes) bool
}

// MaxNodes is how many nodes a cluster may have.
const MaxNodes = 99

// StaysUp is what every target promises: none of its nodes ends by itself. NoAlarm is what those promise that have alarms.
const (
	StaysUp = "stays-up"
	NoAlarm = "no-alarm"
)

// AllPromises returns the Promises of t, that its nodes stay up, and that none raises an alarm if they have any: on an assumption if they
// say so.
func (t *Target) AllPromises() []Promise {
	all := slices.Clone(t.Promises)
	promise := func(property string) {
		if !slices.ContainsFunc(t.Promises, func(p Promise) bool { return p.Property == property }) {
			all = append(all, Promise{Property: property})
		}
	}
	promise(StaysUp)
	if t.Alarms {
		promise(NoAlarm)
	}
	return all
}

// Numbered reports whether views carry terms with these options.
func (t *Target) Numbered(o Options) bool {
	return !t.NoTerms && (t.NoTermsWith == nil || !t.NoTermsWith(o))
}

// Excused reports whether what the nemesis did takes away for good what t's promise of the property rests on.
func (t *Target) Excused(property string, did history.Changes) bool {
	return t.rests(property, func(p *Promise) bool { return p.Unless != nil && p.Unless(did) })
}

// Suspended reports whether what the nemesis did takes away what t's promise of the property rests on for as long as it is in force:
// see Promise.Suspended.
func (t *Target) Suspended(property string, did history.Changes) bool {
	return t.rests(property, func(p *Promise) bool { return p.Suspended != nil && p.Suspended(did) })
}

// MayExcuse reports whether there is anything that takes away what the promise of a property rests on, for good or for a time.
func (t *Target) MayExcuse(property string) bool {
	return t.rests(property, func(p *Promise) bool { return p.Unless != nil || p.Suspended != nil })
}

// rests reports whether something is so of what t's promise of the property rests on. What all targets promise rests on nothing.
func (t *Target) rests(property string, is func(p *Promise) bool) bool {
	for i := range t.Promises {
		if p := &t.Promises[i]; p.Property == property && is(p) {
			return true
		}
	}
	return false
}

// Promised reports whether t promises the property with these options, and on which assumption: an option that breaks a
// target on purpose takes promises away.
func (t *Target) Promised(o Options, property string) (promised bool, while string) {
	promises := t.AllPromises()
	i := slices.IndexFunc(promises, func(p Promise) bool { return p.Property == property })
	if i < 0 {
		return false, ""
	}
	for _, opt := range t.Options {
		if slices.Contains(opt.Breaks, property) && o.Value(opt.Name) != opt.Default {
			return false, ""
		}
	}
	if t.Unpromised != nil && slices.Contains(t.Unpromised(o), property) {
		return false, ""
	}
	return true, promises[i].While
}

// Planted reports whether t would promise the property but for an option that breaks it on purpose.
func (t *Target) Planted(o Options, property string) bool {
	if promised, _ := t.Promised(o, property); promised || t.Unpromised != nil && slices.Contains(t.Unpromised(o), property) {
		return false
	}
	return slices.ContainsFunc(t.AllPromises(), func(p Promise) bool { return p.Property == property })
}

var registry = map[string]*Target{}

// Register adds a target. A name may be registered twice if one of the two is a model and the other one real; anything
// else is a programming error.
func Register(t *Target) {
	if (t.Node == nil) == (t.System == nil) {
		panic("targets: exactly one of Node and System must be set: " + t.Name)
	}
	switch other := registry[t.Name]; {
	case other == nil:
		registry[t.Name] = t
	case other.Real != nil, (other.Node == nil) == (t.Node == nil):
		panic("targets: registered twice: " + t.Name)
	case t.Node != nil:
		registry[t.Name] = modelOf(t, other)
	default:
		modelOf(other, t)
	}
}

// modelOf ties a model to what it models.
func modelOf(model, modelled *Target) *Target {
	model.Real = modelled
	model.Options = append(slices.Clip(model.Options), modelOption)
	return model
}

// All returns every target, by name.
func All() []*Target {
	all := make([]*Target, 0, len(registry))
	for _, t := range registry {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b *Target) int { return strings.Compare(a.Name, b.Name) })
	return all
}

var fromFile func(path string) (*Target, error)

// FromFile sets what makes a target of the file that describes it. It is called once, by the package that can.
func FromFile(load func(path string) (*Target, error)) { fromFile = load }

// IsFile reports whether a target's name is the path of a file that describes it.
func IsFile(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".yaml" || ext == ".yml"
}

// Label is what a target is called beside others: its name, or what the file says that describes it, or the file's Stem where that cannot
// be read.
func Label(name string) string {
	if !IsFile(name) {
		return name
	}
	if t, err := Find(name); err == nil && t.Called != "" {
		return t.Called
	}
	return Stem(name)
}

// Stem is what a file is called, without folder and ending.
func Stem(file string) string { return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)) }

// Find returns the target of that name, or the one that the file at that path describes.
func Find(name string) (*Target, error) {
	if t := registry[name]; t != nil {
		return t, nil
	}
	if fromFile != nil && IsFile(name) {
		return fromFile(name)
	}
	if strings.ContainsRune(name, filepath.Separator) {
		return nil, hint.Add(fmt.Errorf("target %q is no file that describes one", name), "its name ends in .yaml")
	}
	var known []string
	for n := range registry {
		known = append(known, n)
	}
	if !linked {
		slices.Sort(known)
		return nil, hint.Add(fmt.Errorf("unknown target %q", name),
			"import _ \"recount/targets/builtin\" registers those that Recount comes with; known: %s", cmp.Or(strings.Join(known, ", "), "none"))
	}
	return nil, hint.Unknown("target", name, known)
}

// linked tells that the targets that Recount comes with are registered.
var linked bool

// BuiltinLinked notes that the targets that Recount comes with are registered, so that nobody is told to import them.
// Package targets/builtin calls it.
func BuiltinLinked() { linked = true }

// Can reports whether the nodes of a target, with these options, can carry out commands of a kind.
func (t *Target) Can(do election.Verb, o Options) (can bool) {
	if t.Node == nil {
		y, err := t.System(o)
		if err != nil {
			return false
		}
		switch do {
		case election.Get, election.Put:
			_, can = y.(election.Storer)
		case election.Resign:
			can = election.HandOverOf(y) != nil
		case election.Reconfigure:
			_, can = y.(election.Reconfigurable)
		}
		return can
	}
	n := t.Node(o, idleEnv{})
	switch do {
	case election.Get, election.Put:
		_, can = n.(election.Keeper)
	case election.Update:
		_, can = n.(election.Updater)
	case election.Resign:
		_, can = n.(election.Resigner)
	case election.Reconfigure:
		_, can = n.(election.Reconfigurer)
	}
	return can
}

// Learns reports whether the members of a target, with these options, can be changed, and be learners at first.
func (t *Target) Learns(o Options) bool {
	switch {
	case !t.Can(election.Reconfigure, o):
		return false
	case t.Node != nil:
		return true
	}
	y, err := t.System(o)
	if err != nil {
		return false
	}
	may, says := y.(election.Learnerless)
	return !says || !may.Learnerless()
}

// idleEnv is an Env for a node that is only looked at: one of five, and no store.
type idleEnv struct{ election.Env }

func (idleEnv) ID() election.ID  { return 2 }
func (idleEnv) Size() int        { return 5 }
func (idleEnv) Rand() *rand.Rand { return rand.New(rand.NewPCG(0, 0)) }
