package nemesis

import (
	"cmp"
	"slices"

	"recount/history"
)

// imposed is the sum of what all faults under way impose. Where several mistreat the same link, process, clock or disk, each
// has its part: healing one leaves the others'.
type imposed struct {
	links  map[line]history.LinkState
	procs  map[string]history.ProcState
	clocks map[string]history.Clock
	disks  map[string]history.DiskState
	cut    map[string]bool // from the clients
}

// line names a link.
type line struct {
	from, to string
	port     int
}

func add(faults []history.Changes) imposed {
	im := imposed{
		map[line]history.LinkState{}, map[string]history.ProcState{}, map[string]history.Clock{}, map[string]history.DiskState{},
		map[string]bool{},
	}
	for _, c := range faults {
		for _, l := range c.Links {
			at := line{l.From, l.To, l.Port}
			im.links[at] = im.links[at].And(l.LinkState)
		}
		for _, p := range c.Procs {
			if severity[p.State] > severity[im.procs[p.Node]] {
				im.procs[p.Node] = p.State
			}
		}
		for _, k := range c.Clocks {
			sum := im.clocks[k.Node]
			im.clocks[k.Node] = history.Clock{
				Node:   k.Node,
				Offset: sum.Offset + k.Offset,
				Drift:  sum.Drift + k.Drift + sum.Drift*k.Drift, // of a clock that drifts against one that drifts
			}
		}
		for _, d := range c.Disks {
			im.disks[d.Node] = im.disks[d.Node].And(d.DiskState)
		}
		for _, k := range c.Clients {
			if k.Cut {
				im.cut[k.Node] = true
			}
		}
	}
	for n, k := range im.clocks {
		if k == (history.Clock{Node: n}) { // jumps that cancel out
			delete(im.clocks, n)
		}
	}
	return im
}

// severity orders the states of a process that several faults want: the worst of them holds.
var severity = map[history.ProcState]int{
	history.Paused: 1, history.Frozen: 2, history.Stopped: 3, history.Down: 4, history.Crashed: 5,
}

// from returns what has to change to come from state b to state a, in a fixed order.
func (a imposed) from(b imposed) (c history.Changes) {
	for at, s := range a.links {
		if s != b.links[at] {
			c.Links = append(c.Links, history.Link{From: at.from, To: at.to, Port: at.port, LinkState: s})
		}
	}
	for at, s := range b.links {
		if _, still := a.links[at]; !still && s != (history.LinkState{}) {
			c.Links = append(c.Links, history.Link{From: at.from, To: at.to, Port: at.port})
		}
	}
	for n, s := range a.procs {
		if s != b.procs[n] {
			c.Procs = append(c.Procs, history.Proc{Node: n, State: s})
		}
	}
	for n := range b.procs {
		if _, still := a.procs[n]; !still {
			c.Procs = append(c.Procs, history.Proc{Node: n, State: history.Up})
		}
	}
	for n, k := range a.clocks {
		if k != b.clocks[n] {
			c.Clocks = append(c.Clocks, k)
		}
	}
	for n := range b.clocks {
		if _, still := a.clocks[n]; !still {
			c.Clocks = append(c.Clocks, history.Clock{Node: n})
		}
	}
	for n, s := range a.disks {
		if s != b.disks[n] {
			c.Disks = append(c.Disks, history.Disk{Node: n, DiskState: s})
		}
	}
	for n := range b.disks {
		if _, still := a.disks[n]; !still {
			c.Disks = append(c.Disks, history.Disk{Node: n})
		}
	}
	for n, s := range b.disks {
		// A process that its disk made end is started again with the disk's healing, as whoever repairs a disk does.
		if _, held := a.procs[n]; s.Fails() && !a.disks[n].Fails() && !held && b.procs[n] == "" {
			c.Procs = append(c.Procs, history.Proc{Node: n, State: history.Up})
		}
	}
	for n := range a.cut {
		if !b.cut[n] {
			c.Clients = append(c.Clients, history.Client{Node: n, Cut: true})
		}
	}
	for n := range b.cut {
		if !a.cut[n] {
			c.Clients = append(c.Clients, history.Client{Node: n})
		}
	}
	slices.SortFunc(c.Clients, func(x, y history.Client) int { return cmp.Compare(x.Node, y.Node) })
	slices.SortFunc(c.Links, func(x, y history.Link) int {
		return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(x.To, y.To), cmp.Compare(x.Port, y.Port))
	})
	slices.SortFunc(c.Procs, func(x, y history.Proc) int { return cmp.Compare(x.Node, y.Node) })
	slices.SortFunc(c.Clocks, func(x, y history.Clock) int { return cmp.Compare(x.Node, y.Node) })
	slices.SortFunc(c.Disks, func(x, y history.Disk) int { return cmp.Compare(x.Node, y.Node) })
	return c
}

// changes returns the imposed states themselves.
func (a imposed) changes() history.Changes { return a.from(imposed{}) }
