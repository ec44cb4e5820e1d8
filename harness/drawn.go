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

// Drawn returns the names of the faults that "all" stands for in a run of a target: those that can take effect there. A
// server in a container that keeps no data has no disk that could fail, and the clocks of programs can be skewed on amd64 only:
// an engine is taken to be on a machine of this one's kind. Of a target that is not known, it is all.
func Drawn(target string, options map[string]string, on string) []string {
	return drawnOn(target, options, on, runtime.GOARCH)
}

func drawnOn(target string, options map[string]string, on, architecture string) []string {
	all := nemesis.Drawn()
	if on == record.OnSim {
		return all
	}
	data, clocks := keepsData(target, options), on == record.OnVirtual || docker.CanSkew(architecture) == nil
	return slices.DeleteFunc(all, func(name string) bool {
		f, err := nemesis.Find(name)
		return err == nil && (f.Disks && !data || f.Clocks && !clocks)
	})
}

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
