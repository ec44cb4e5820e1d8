package nemesis

import (
	"slices"

	"recount/history"
)

// remove-member has the cluster itself take a member out. Its process is left alone: it may not know, and go on. Healing adds the
// node again, as a member that it was not before: its process is ended, and started with nothing on its disk.
func init() {
	register(&Fault{
		Name:    "remove-member",
		About:   "a voter is taken out of the cluster, where that can be asked of it, and added again at the end with nothing on its disk",
		Aims:    []Aim{{"who is taken out", "one"}},
		Members: true,
		Shape:   func(s Scene) Shape { return constant(members(s.Aims[0], history.Removed)) },
	})
}

// replace-member has a member taken out and an empty one added in its place, which learns until it is promoted.
func init() {
	register(&Fault{
		Name:    "replace-member",
		About:   "a voter is taken out and replaced, where that can be asked of the cluster, by a learner with nothing on its disk, which is promoted at the end",
		Aims:    []Aim{{"who is replaced", "one"}},
		Members: true, Learners: true,
		Shape: func(s Scene) Shape { return constant(members(s.Aims[0], history.Learner)) },
	})
}

// Teaches tells whether the schedule, or what is to be done again, adds learners.
func Teaches(s Schedule, again []Action) bool {
	learns := func(m history.Member) bool { return m.As == history.Learner }
	return s.has(func(f *Fault) bool { return f.Learners }) ||
		slices.ContainsFunc(again, func(a Action) bool { return slices.ContainsFunc(a.Fault.Members(), learns) })
}

func members(nodes []string, as history.Membership) history.Changes {
	var all []history.State
	for _, n := range nodes {
		all = append(all, history.Member{Node: n, As: as})
	}
	return history.ChangesOf(all...)
}

// Reconfigures tells whether the schedule, or what is to be done again, changes who is a member.
func Reconfigures(s Schedule, again []Action) bool {
	return s.has(func(f *Fault) bool { return f.Members }) ||
		slices.ContainsFunc(again, func(a Action) bool { return len(a.Fault.Members()) > 0 })
}
