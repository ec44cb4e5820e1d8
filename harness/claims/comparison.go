package claims

import (
	"fmt"
	"slices"

	"recount/history"
)

// comparison regenerates the comparison table of [E].
var comparison = &Experiment{
	Name:  "comparison",
	Title: "The comparison table, measured",
	About: "Messages: the worst election of n nodes, from nothing or after the leader's crash, fitted to a power of " +
		"n. Tolerates: how many of five candidates may be killed, the leader among them, with a new leader each " +
		"time; a store, where there is one, lives. Ordering: whether each of ten leaderships, with crashes and " +
		"returns between them, has a higher number than the one before. Split brain: the leader is cut off with a " +
		"minority, and a majority left to elect; two leaders of one number, or without numbers two at all, are " +
		"split brain.",
	Source: "[E]",
	series: func(e Effort) (all []series) {
		for _, c := range compared {
			for _, n := range clusterSizes(e) {
				all = append(all, series{costName(c.target, n), e.of(4), func(seed uint64) (sample, error) {
					return simpleCost(c.target, n, seed)
				}})
			}
			for k := 1; k < 5; k++ {
				all = append(all, series{c.target + " loses " + fmt.Sprint(k), e.of(50), func(seed uint64) (sample, error) {
					return survives(c.target, 5+c.store, k, seed)
				}})
			}
			all = append(all,
				series{c.target + " order", e.of(50), func(seed uint64) (sample, error) { return numbered(c.target, 5+c.store, seed) }},
				series{c.target + " split", e.of(200), func(seed uint64) (sample, error) { return splitBrain(c.target, 5+c.store, seed) }})
		}
		return all
	},
	conclude: concludeComparison,
}

// compared are the rows of the table. What it says of each is put into numbers where it can be.
var compared = []struct {
	target                               string
	store                                int    // members that are one
	messages, tolerates, ordering, split string // as claimed; "" where nothing is
	grows                                float64
	losses                               int // of five
	numbers, safe                        bool
}{
	{"bully", 0, "O(n²) worst", "crash-stop", "no", "no (without quorum)", 2, 4, false, false},
	{"ring", 0, "O(n)", "crash-stop", "no", "no", 1, 4, false, false},
	{"raft", 0, "O(n) per election", "f < n/2 crashes", "terms", "yes (quorum)", 1, 2, true, true},
	{"zookeeper-recipe", 1, "O(n)", "f < n/2", "zxid", "yes (quorum)", 1, 4, true, true},
	{"etcd-election", 1, "O(n) per election", "f < n/2", "revision", "yes (quorum)", 1, 4, true, true},
	{"bully-quorum", 0, "", "", "", "", 0, 0, false, true},
	{"raft-prevote", 0, "", "", "", "", 0, 0, true, true},
	{"blazingmq-scouting", 0, "", "", "", "", 0, 0, true, true},
}

// simpleCost returns the messages of a start from nothing, and of the election after the leader's crash.
func simpleCost(target string, n int, seed uint64) (sample, error) {
	if goingRound[target] == nil {
		return sample{0, 0}, nil
	}
	s, err := setup{target: target, nodes: n}.open(seed)
	if err != nil {
		return nil, err
	}
	if _, err := s.settle(); err != nil {
		return nil, err
	}
	s.run(s.bounds.Silence)
	start := float64(s.sent)
	s.sent = 0
	s.become(s.leader(), history.Down)
	if _, err := s.settle(); err != nil {
		return nil, err
	}
	s.run(s.bounds.Silence / 2)
	return sample{start, float64(s.sent)}, nil
}

// numbered reports whether each leadership has a higher number than the one before, while leaders die and return.
func numbered(target string, n int, seed uint64) (sample, error) {
	s, err := setup{target: target, nodes: n}.open(seed)
	if err != nil {
		return nil, err
	}
	for range 10 {
		leader, err := s.settle()
		if err != nil {
			return nil, err
		}
		s.become(leader, history.Down)
		s.until(5*s.bounds.Elect, func() bool { return s.known(leader) })
		s.become(leader, history.Up)
		s.run(s.bounds.Elect)
	}
	grows := s.led[0].term > 0
	for i := 1; i < len(s.led); i++ {
		grows = grows && s.led[i].term > s.led[i-1].term
	}
	return sample{one(grows)}, nil
}

// splitBrain cuts the leader off with a minority, and returns for how long there were two leaders, and for how long two
// that nothing tells apart.
func splitBrain(target string, n int, seed uint64) (sample, error) {
	s, leader, may, err := established(target, n, seed)
	if err != nil {
		return nil, err
	}
	minority := []int{leader, may[seed%uint64(len(may))]}
	var rest []int
	for i := range n {
		if !slices.Contains(minority, i) {
			rest = append(rest, i)
		}
	}
	s.cut(true, false, minority, rest)
	two, same := 0.0, 0.0
	for end := s.Now() + 2*s.bounds.Elect; s.Now() < end; s.run(step) {
		seen := map[uint64]bool{}
		leaders := s.leaders()
		for _, l := range leaders {
			t := s.nodes[l].Status().Term
			if seen[t] {
				same += step.Seconds()
			}
			seen[t] = true
		}
		two += one(len(leaders) > 1) * step.Seconds()
	}
	return sample{two, same}, nil
}

func concludeComparison(r *Result, all []*found) error {
	t := Table{Head: []string{
		"algorithm", "messages, at worst", "tolerates of 5", "ordering", "two leaders at once", "of one number", "split-brain safe",
	}}
	c := Table{Title: "As the source has it", Head: []string{"algorithm", "messages", "tolerates", "ordering", "split-brain safe"}}
	for _, row := range compared {
		var sizes, worst []float64
		for _, n := range clusterSizes(Full) {
			f := by(all, costName(row.target, n))
			if len(f.samples) > 0 {
				sizes, worst = append(sizes, float64(n)), append(worst, max(most(f.column(0)), most(f.column(1))))
			}
		}
		grows := exponent(sizes, worst)
		losses, _ := tolerated(all, func(k int) string { return row.target + " loses " + fmt.Sprint(k) }, 4)
		order, split := by(all, row.target+" order").column(0), by(all, row.target+" split")
		if len(split.samples) == 0 {
			continue
		}
		numbers := len(order) > 0 && least(order) == 1
		two, same := split.column(0), split.column(1)
		safe := most(same) == 0
		overlap := "never"
		if most(two) > 0 {
			overlap = fmt.Sprintf("in %s of cuts, up to %s", percent(positive(two)), seconds(most(two)))
		}
		t.row(row.target, power(grows), fmt.Sprint(losses), yes(numbers), overlap, percent(positive(same)), yes(safe))
		if row.messages == "" {
			continue
		}
		c.row(row.target, row.messages, row.tolerates, row.ordering, row.split)
		r.claim(fmt.Sprintf("%s: %s messages.", row.target, row.messages), near(grows, row.grows, 0.2), costWhy[row.target],
			"%s", power(grows))
		r.claim(fmt.Sprintf("%s tolerates %s.", row.target, row.tolerates), losses == row.losses, "See the table.",
			"%d of 5%s", losses, besides(row.store))
		r.claim(fmt.Sprintf("%s: ordering by %s.", row.target, row.ordering), numbers == row.numbers, "See the table.",
			"leaderships have growing numbers: %s", yes(numbers))
		r.claim(fmt.Sprintf("%s is split-brain safe: %s.", row.target, row.split), safe == row.safe, "See the table.",
			"two leaders that nothing tells apart in %s of the cuts", percent(positive(same)))
	}
	r.Tables = append(r.Tables, t, c)
	return nil
}

// costWhy says where a measured cost differs from the claimed one, and why.
var costWhy = map[string]string{
	"bully":            bullyWhy,
	"ring":             "O(n) is one node's election; when the leader dies all miss it, and each sends a message round of its own.",
	"raft":             "O(n) is one candidate's; the number of candidates that time out within a message's travel grows with n.",
	"zookeeper-recipe": "Candidates that join cost O(n) together.",
	"etcd-election":    "Candidates that join cost O(n) together.",
}

// besides tells what else there is for the candidates of an election through a store.
func besides(store int) string {
	if store == 0 {
		return ""
	}
	return " candidates, the store living; the f < n/2 are the real store's servers, of which this model has one"
}

// positive is the share of values above zero.
func positive(values []float64) float64 {
	n := 0.0
	for _, v := range values {
		n += one(v > 0)
	}
	return n / float64(len(values))
}
