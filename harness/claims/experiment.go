package claims

import (
	"recount/internal/hint"
)

// Experiment measures a claim, or a few that belong together.
type Experiment struct {
	Name   string // command-line word: "time-without-leader"
	Title  string
	About  string // what is done, and what is counted
	Source string // who claims it

	series   func(Effort) []series
	conclude func(*Result, []*found) error
}

// All returns the experiments, in the order in which people want to read of them.
func All() []*Experiment {
	return []*Experiment{
		detection, phi, leaderless, firstRound, messages, handOver, cascade, quorums, comparison,
	}
}

// Find returns the experiments of those names; all if there are none.
func Find(names []string) (found []*Experiment, err error) {
	if len(names) == 0 {
		return All(), nil
	}
	var known []string
	byName := map[string]*Experiment{}
	for _, e := range All() {
		known = append(known, e.Name)
		byName[e.Name] = e
	}
	for _, n := range names {
		if byName[n] == nil {
			return nil, hint.Unknown("experiment", n, known)
		}
		found = append(found, byName[n])
	}
	return found, nil
}
