package claims

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"recount/history"
)

// quorums finds how many crashes a cluster survives.
var quorums = &Experiment{
	Name:  "quorum",
	Title: "Quorum and tolerated failures by cluster size",
	About: "Of n nodes running Raft, k are killed, the leader among them, and it is seen whether the others elect a " +
		"new leader within the target's bound.",
	Source: "[P]",
	series: func(e Effort) (all []series) {
		for n := 2; n <= 7; n++ {
			for k := 1; k < n; k++ {
				all = append(all, series{lossName(n, k), e.of(100), func(seed uint64) (sample, error) {
					return survives("raft", n, k, seed)
				}})
			}
		}
		return all
	},
	conclude: concludeQuorums,
}

func lossName(n, k int) string { return fmt.Sprintf("%d of %d", k, n) }

// survives reports whether an election finds a new leader after k of n nodes were killed, its leader first.
func survives(target string, n, k int, seed uint64) (sample, error) {
	s, leader, may, err := established(target, n, seed)
	if err != nil {
		return nil, err
	}
	s.become(leader, history.Down)
	for i := range k - 1 {
		s.become(may[(int(seed%uint64(len(may)))+i)%len(may)], history.Down)
	}
	found := func() bool {
		l := s.leader()
		return l >= 0 && l != leader
	}
	return sample{one(s.until(2*s.bounds.Elect, found))}, nil
}

// tolerated is up to how many losses were always survived, and whether more never were.
func tolerated(all []*found, name func(k int) string, most int) (f int, sharp bool) {
	sharp = true
	for k := 1; k <= most; k++ {
		v := by(all, name(k)).column(0)
		switch {
		case len(v) > 0 && least(v) == 1 && f == k-1:
			f = k
		case floats.Sum(v) > 0:
			sharp = false
		}
	}
	return f, sharp
}

func concludeQuorums(r *Result, all []*found) error {
	claimed := map[int][2]int{2: {2, 0}, 3: {2, 1}, 4: {3, 1}, 5: {3, 2}, 7: {4, 3}}
	t := Table{Head: []string{"n", "quorum, claimed", "quorum, measured", "failures, claimed", "failures, measured"}}
	agrees := true
	for n := 2; n <= 7; n++ {
		f, sharp := tolerated(all, func(k int) string { return lossName(n, k) }, n-1)
		says := []string{"–", "–"}
		if c, some := claimed[n]; some {
			says = []string{fmt.Sprint(c[0]), fmt.Sprint(c[1])}
			agrees = agrees && sharp && c == [2]int{n - f, f}
		}
		t.row(fmt.Sprint(n), says[0], fmt.Sprint(n-f), says[1], fmt.Sprint(f))
	}
	r.Tables = append(r.Tables, t)
	r.claim("Quorum and tolerated failures for n = 2, 3, 4, 5, 7 are 2/0, 2/1, 3/1, 3/2, 4/3.", agrees, "The table has what was measured.",
		"one failure more was never survived, one fewer always")
	return nil
}
