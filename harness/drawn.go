package harness

import (
	"fmt"
	"runtime"
	"slices"

	"recount/docker"
	"recount/election"
	"recount/harness/record"
	"recount/nemesis"
	"recount/targets"
)

// Drawn returns the names of the faults that "all" stands for in a run of a target: those that can take effect there. Not every
// election can be asked to hand over, or to change its members. Where neither nodes nor servers beside them keep data, none has a disk that could fail, and the clocks of
// programs can be skewed on amd64 and arm64 only: an engine is taken to be on a machine of this one's kind. Of a target that is not known,
// it is all.
func Drawn(target string, options map[string]string, on string) []string {
	return drawnOn(target, options, on, runtime.GOARCH)
}

func drawnOn(target string, options map[string]string, on, architecture string) []string {
	lacks := lacking(target, options, on, architecture)
	return slices.DeleteFunc(nemesis.Drawn(), func(name string) bool { return lacks(name) != "" })
}

// Lack is what a target or a machine does not have that a fault takes.
type Lack string

// The lacks.
const (
	NoResign  Lack = "resign"  // leaders cannot be asked to hand over
	NoMembers Lack = "members" // the cluster cannot be asked to change its members
	NoLearner Lack = "learner" // who is added votes at once
	NoData    Lack = "data"    // neither nodes nor servers beside them have a disk
	NoClocks  Lack = "clocks"  // programs of that architecture have clocks that cannot be skewed
)

// Undrawn returns the faults that Drawn leaves out, by what is lacking for them.
func Undrawn(target string, options map[string]string, on string) map[Lack][]string {
	lacks, out := lacking(target, options, on, runtime.GOARCH), map[Lack][]string{}
	for _, name := range nemesis.Drawn() {
		if l := lacks(name); l != "" {
			out[l] = append(out[l], name)
		}
	}
	return out
}

// lacking returns what tells what is lacking for a fault, the target's before the machine's; "" if nothing is.
func lacking(target string, options map[string]string, on, architecture string) func(fault string) Lack {
	answers, members, learners, data := takes(target, options, on, handsOver), takes(target, options, on, reconfigures),
		takes(target, options, on, teaches), takes(target, options, on, keepsData)
	clocks := on != record.OnDocker || docker.CanSkew(architecture) == nil
	return func(fault string) Lack {
		f, err := nemesis.Find(fault)
		switch {
		case err != nil:
		case f.Members && !members:
			return NoMembers
		case f.Learners && !learners:
			return NoLearner
		case f.Asks && !answers:
			return NoResign
		case f.Disks && !data:
			return NoData
		case f.Clocks && !clocks:
			return NoClocks
		}
		return ""
	}
}

// takes tells whether a target can do something there, as far as that is known.
func takes(target string, options map[string]string, on string, can func(t *targets.Target, o targets.Options, on string) bool) bool {
	t, err := targets.Find(target)
	if err != nil {
		return true
	}
	t = t.On(on != record.OnSim, options)
	o, err := t.Parse(options)
	return err != nil || can(t, o, on)
}

// handsOver tells whether a target's leaders can be asked to hand over.
func handsOver(t *targets.Target, o targets.Options, _ string) bool { return t.Can(election.Resign, o) }

// keepsData tells whether anybody of a target has a disk.
func keepsData(t *targets.Target, o targets.Options, on string) bool {
	nodes, servers := disks(t, o, on)
	return nodes || servers
}

// serversKeepData tells whether only servers that stand beside a target's nodes have a disk.
func serversKeepData(target string, options map[string]string, on string) bool {
	return !takes(target, options, on, func(t *targets.Target, o targets.Options, on string) bool {
		nodes, servers := disks(t, o, on)
		return nodes || !servers
	})
}

// disks tells whether a target's nodes have a disk, and whether servers beside them do, as far as that is known.
func disks(t *targets.Target, o targets.Options, on string) (nodes, servers bool) {
	if on == record.OnSim || t.System == nil {
		return true, false
	}
	system, err := t.System(o)
	if err != nil {
		return true, false
	}
	if k, says := system.(election.DataKeeper); says {
		return k.KeepData()
	}
	node := election.Member{ID: 1, Name: "n1", Addr: targets.Unplaced(1)}
	all := []election.Member{node}
	if t.Servers != nil {
		for i := range t.Servers(o) {
			id := election.ID(i + 2)
			all = append(all, election.Member{ID: id, Name: fmt.Sprintf("s%d", i+1), Server: true, Addr: targets.Unplaced(id)})
		}
	}
	keeps := func(m election.Member) bool { return system.Container(m, all).Data != "" }
	return keeps(node), slices.ContainsFunc(all[1:], keeps)
}

// Pace is how faults are drawn for a plan of a target. How often they begin and how long they hold is for the caller to say.
func Pace(t *targets.Target, p *record.Plan) nemesis.Pace {
	return nemesis.Pace{
		Within: p.Time, Mute: t.System != nil, Own: t.Own, Blind: p.On != record.OnSim,
		Diskless: serversKeepData(p.Target, p.Options, p.On),
	}
}
