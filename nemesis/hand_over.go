package nemesis

import (
	"slices"

	"recount/history"
)

// hand-over asks the leader to let another lead, whatever else is going on. It heals by itself: what was asked is done or not.
func init() {
	register(&Fault{
		Name:  "hand-over",
		About: "the leader is asked to hand the leadership over, where the election can be asked",
		Aims: []Aim{
			{What: "who is asked", Default: "leader"},
			{What: "who is to lead, where the election takes a wish"},
		},
		Asks: true,
		Shape: func(s Scene) Shape {
			heir := ""
			if len(s.Aims) > 1 {
				heir = s.Aims[1][0]
			}
			var all []history.State
			for _, n := range s.Aims[0] {
				all = append(all, history.HandOver{Node: n, ID: s.ID, Asked: true, Heir: heir})
			}
			return constant(history.ChangesOf(all...))
		},
	})
}

// Asks tells whether the schedule, or what is to be done again, asks nodes for something.
func Asks(s Schedule, again []Action) bool {
	return s.has(func(f *Fault) bool { return f.Asks }) ||
		slices.ContainsFunc(again, func(a Action) bool { return a.Fault.HandsOver() })
}
