package harness

import (
	"net/netip"
	"runtime"
	"slices"

	"recount/docker"
	"recount/election"
	"recount/harness/record"
	"recount/nemesis"
	"recount/targets"
)

// Drawn returns the names of the faults that "all" stands for in a run of a target: those that can take effect there. Not every
// election can be asked to hand over, or to change its members. A server in a container that keeps no data has no disk that could fail, and the clocks of
// programs can be skewed on amd64 only: an engine is taken to be on a machine of this one's kind. Of a target that is not known,
// it is all.
func Drawn(target string, options map[string]string, on string) []string {
	return drawnOn(target, options, on, runtime.GOARCH)
}

func drawnOn(target string, options map[string]string, on, architecture string) []string {
	answers, members, data := takes(target, options, on, handsOver), takes(target, options, on, reconfigures), on == record.OnSim || keepsData(target, options)
	clocks := on != record.OnDocker || docker.CanSkew(architecture) == nil
	return slices.DeleteFunc(nemesis.Drawn(), func(name string) bool {
		f, err := nemesis.Find(name)
		return err == nil && (f.Asks && !answers || f.Members && !members || f.Disks && !data || f.Clocks && !clocks)
	})
}

// takes tells whether a target can be asked for something, as far as that is known.
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

// keepsData tells whether a target's nodes have a disk in containers, as far as that is known.
func keepsData(target string, options map[string]string) bool {
	t, err := targets.Find(target)
	if err != nil || t.On(true, options).System == nil {
		return true
	}
	t = t.On(true, options)
	o, err := t.Parse(options)
	if err != nil {
		return true
	}
	system, err := t.System(o)
	if err != nil {
		return true
	}
	n := election.Member{ID: 1, Name: "n1", Addr: netip.AddrFrom4([4]byte{192, 0, 2, 1})}
	return system.Container(n, []election.Member{n}).Data != ""
}
