package nemesis

import (
	"math/rand/v2"
	"slices"
	"time"

	"recount/history"
	"recount/internal/option"
)

// count is how many of the nodes are among others.
func count(nodes, among []string) (n int) {
	for _, name := range nodes {
		if slices.Contains(among, name) {
			n++
		}
	}
	return n
}

// cascade kills the leader, then the one that took over, and so on. As many as a minority has are dead at a time, or of candidates that
// elect through servers all but one; the one that has been dead for longest comes back when another dies. Of two voters none is a
// minority, and there is nothing to do.
func init() {
	register(&Fault{
		Name:  "cascade",
		About: "the leader dies, and each that takes over dies as well; a majority is left at any time, so it takes three that vote; of candidates that elect through servers one is",
		Aims:  []Aim{{"the first to die", "leader"}},
		Options: []option.Option{
			{Name: "every", Kind: option.Wait, Default: "2s", About: "time between two deaths, at least: there has to be a leader"}, ending,
		},
		Draw: func(hold time.Duration, rnd *rand.Rand) map[string]string {
			return map[string]string{"every": drawDuration(hold/50, hold/2, rnd)}
		},
		Shape: func(s Scene) Shape {
			var dead []string
			others := s.Others(s.Voters...)
			tooMany := func() bool {
				return count(s.Voters, dead) > (len(s.Voters)-1)/2 || len(dead) > 1 && len(others) > 0 && count(others, dead) == len(others)
			}
			die := func(aims [][]string) (history.Changes, bool) {
				dead = append(dead, aims[0]...)
				for tooMany() {
					dead = dead[1:]
				}
				return s.end(slices.Clone(dead)), true
			}
			return Shape{Repeat: true, Phases: []Phase{
				{For: s.Options.Duration("every"), Words: []string{"leader"}, Then: die},
			}}
		},
	})
}
