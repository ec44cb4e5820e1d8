package nemesis

import (
	"slices"

	"recount/history"
	"recount/internal/option"
)

// own is a fault that the target describes itself: how nodes are asked to begin it, and to end it.
func init() {
	register(&Fault{
		Name:    "own",
		About:   "a node is asked for a fault that the target's description has, and at the end to end it",
		Aims:    []Aim{{"who is asked", "leader"}},
		Options: []option.Option{{Name: ownName, Default: "", About: "what the description calls it"}},
		Named:   true,
		Own:     true,
		Shape: func(s Scene) Shape {
			var all []history.State
			for _, n := range s.Aims[0] {
				all = append(all, history.Own{Node: n, Fault: s.Options.Value(ownName), On: true})
			}
			return constant(history.ChangesOf(all...))
		},
	})
}

// ownName is the option that names one of the target's own faults.
const ownName = "name"

// Owns returns the names of the target's own faults that the schedule, or what is to be done again, asks nodes for; "" of a step that
// names none.
func Owns(s Schedule, again []Action) (names []string) {
	for _, st := range s {
		if f, err := Find(st.Fault); err == nil && f.Own {
			names = append(names, st.With[ownName])
		}
	}
	for _, a := range again {
		for _, o := range a.Fault.Owns() {
			names = append(names, o.Fault)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
