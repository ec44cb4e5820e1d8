package systems

import (
	"fmt"
	"strconv"

	"recount/election"
	"recount/internal/hint"
	"recount/targets"
)

// VotersOption is how many of the members vote. The others are what the system calls so: learners, observers.
func VotersOption(others string) targets.Option {
	return targets.Option{Name: "voters", Kind: targets.Text, Default: "all", About: "how many members vote, the first ones; the others are " + others}
}

// Voters reads that option: the members, of so many, that vote.
func Voters(o targets.Options, nodes int) (ids []election.ID, err error) {
	for id := election.ID(1); int(id) <= nodes; id++ {
		if Votes(o, id) {
			ids = append(ids, id)
		}
	}
	n, err := countVoters(o)
	if err == nil && n > nodes {
		err = hint.Add(fmt.Errorf("option voters: %d of %d nodes", n, nodes), "take %v or more", hint.Set("nodes", n))
	}
	return ids, err
}

// Votes reports whether a member does.
func Votes(o targets.Options, id election.ID) bool {
	n, err := countVoters(o)
	return err == nil && (n == 0 || int(id) <= n)
}

// CheckVoters refuses what is no number of voters.
func CheckVoters(o targets.Options) error {
	_, err := countVoters(o)
	return err
}

// countVoters is how many vote; 0 for all.
func countVoters(o targets.Options) (int, error) {
	text := o.Value("voters")
	if text == "all" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, hint.Add(fmt.Errorf("option voters: %q", text), "a number of members, such as 3, or all")
	}
	return n, nil
}
