package nemesis

import "recount/history"

// disk-full leaves no room on a node's disk: what grows a file or makes one fails, what overwrites does not.
func init() {
	register(&Fault{
		Name:  "disk-full",
		About: "a node's disk is full: writes that need room fail (ENOSPC); a node that ended over it starts again at the end",
		Aims:  []Aim{{"the node", "leader"}},
		Disks: true,
		Shape: func(s Scene) Shape { return constant(disks(s.Aims[0], history.DiskState{Full: true})) },
	})
}

// disks brings nodes' disks into a state.
func disks(nodes []string, state history.DiskState) (c history.Changes) {
	for _, n := range nodes {
		c.Disks = append(c.Disks, history.Disk{Node: n, DiskState: state})
	}
	return c
}
