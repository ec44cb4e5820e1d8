package claims

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/plotter"

	"recount/history"
)

// messages counts what an election costs, and how that grows with the number of nodes.
var messages = &Experiment{
	Name:  "messages",
	Title: "Messages of an election",
	About: "All messages of one election are counted, from its occasion until all name one leader and nothing more " +
		"is sent, without the heartbeats that go round anyway; those that tell of the new leader count. Occasions: " +
		"all start from nothing; the leader crashes, and all miss it; one node alone misses it; the crashed one " +
		"returns. The best and the worst are those of any occasion and seed.",
	Source: "[E]; Petrov, Database Internals, chapter 10",
	series: func(e Effort) (all []series) {
		for _, t := range counted {
			for _, n := range clusterSizes(e) {
				all = append(all, series{costName(t, n), e.of(6), func(seed uint64) (sample, error) { return cost(t, n, seed) }})
			}
		}
		return all
	},
	conclude: concludeMessages,
}

var counted = []string{"bully", "next-in-line", "candidate-ordinary", "ring", "ring-max", "raft"}

// clusterSizes are the numbers of nodes to be measured.
func clusterSizes(e Effort) []int {
	if e < Full {
		return []int{3, 5, 9, 17}
	}
	return []int{3, 5, 9, 17, 33, 65, 101}
}

func costName(target string, n int) string { return fmt.Sprintf("%s %d", target, n) }

// occasions are what elections begin with, in the order of a sample.
var occasions = []string{"start", "crash", "one misses", "return"}

// cost returns the messages of the elections of one cluster, one after the other.
func cost(target string, n int, seed uint64) (sample, error) {
	s, err := setup{target: target, nodes: n}.open(seed)
	if err != nil {
		return nil, err
	}
	var all sample
	count := func() error { // what was sent until it is quiet
		quiet := func() bool { return s.leader() >= 0 && s.Now()-s.lastSent > s.bounds.Silence/4 }
		if !s.until(20*s.bounds.Elect, quiet) {
			return fmt.Errorf("%s: not over within %v", costName(target, n), 20*s.bounds.Elect)
		}
		all = append(all, float64(s.sent))
		s.sent = 0
		return nil
	}
	if err := count(); err != nil {
		return nil, err
	}
	s.run(s.bounds.Silence) // heartbeats tell who is in line
	s.sent = 0
	leader := s.leader()
	s.become(leader, history.Down)
	s.until(10*s.bounds.Elect, func() bool { return s.sent > 0 })
	if err := count(); err != nil {
		return nil, err
	}
	next := s.leader()
	alone := (next + 1 + int(seed%uint64(n-1))) % n
	for alone == leader || alone == next {
		alone = (alone + 1) % n
	}
	s.run(s.bounds.Silence)
	s.sent = 0
	s.cut(true, true, []int{next}, []int{alone})
	s.until(10*s.bounds.Elect, func() bool { return s.sent > 0 })
	s.cut(false, true, []int{next}, []int{alone})
	if err := count(); err != nil {
		return nil, err
	}
	s.become(leader, history.Up)
	if err := count(); err != nil {
		return nil, err
	}
	return all, nil
}

// costs are the fewest and the most messages by cluster size, of one occasion or (-1) of any; what cost nothing was no
// election.
func costs(all []*found, target string, occasion int) (sizes, best, worst []float64) {
	for _, n := range clusterSizes(Full) {
		low, high := math.Inf(1), 0.0
		for _, s := range by(all, costName(target, n)).samples {
			for k, v := range s {
				if v > 0 && (occasion < 0 || occasion == k) {
					low, high = min(low, v), max(high, v)
				}
			}
		}
		if high > 0 {
			sizes, best, worst = append(sizes, float64(n)), append(best, low), append(worst, high)
		}
	}
	return sizes, best, worst
}

// bullyWhy is why bully costs more than its books say.
const bullyWhy = "O(n²) is one election of each node, all under way together, as after the leader's crash. But who hears the leader and then another " +
	"ELECTION holds one more election, and so may draw in all above it again: as often as messages overtake each other."

func concludeMessages(r *Result, all []*found) error {
	t := Table{Title: "Messages of an election of n nodes, best and worst", Head: []string{"election"}}
	g := Table{Title: "How they grow", Head: []string{"election", "best", "worst"}}
	for _, o := range occasions {
		g.Head = append(g.Head, "worst: "+o)
	}
	for _, n := range clusterSizes(Full) {
		if len(by(all, costName(counted[0], n)).samples) > 0 {
			t.Head = append(t.Head, fmt.Sprintf("n = %d", n))
		}
	}
	d := drawing{name: "messages", title: "Messages of an election, at worst", x: "nodes", y: "messages", logX: true, logY: true}
	grows := map[string][2]float64{}
	for _, target := range counted {
		sizes, best, worst := costs(all, target, -1)
		row := []string{target}
		l := curve{name: target, dots: true}
		for i := range sizes {
			row = append(row, fmt.Sprintf("%.0f … %.0f", best[i], worst[i]))
			l.points = append(l.points, plotter.XY{X: sizes[i], Y: worst[i]})
		}
		for len(row) < len(t.Head) {
			row = append(row, "–")
		}
		t.row(row...)
		d.curves = append(d.curves, l)
		grows[target] = [2]float64{exponent(sizes, best), exponent(sizes, worst)}
		growth := []string{target, power(grows[target][0]), power(grows[target][1])}
		for k := range occasions {
			sizes, _, worst := costs(all, target, k)
			growth = append(growth, power(exponent(sizes, worst)))
		}
		g.row(growth...)
	}
	r.Tables = append(r.Tables, t, g)
	measured := func(target string) string {
		return fmt.Sprintf("%s at best, %s at worst", power(grows[target][0]), power(grows[target][1]))
	}
	r.claim("Bully takes O(1) messages at best.", grows["bully"][0] < 0.3,
		"To ask may take none, but to tell everybody takes n − 1: no election that all are to know of is cheaper.", "%s", measured("bully"))
	r.claim("Bully takes O(n²) messages at worst.", near(grows["bully"][1], 2, 0.2), bullyWhy, "%s", measured("bully"))
	r.claim("A ring takes O(n) messages to elect and O(n) to announce.", near(grows["ring"][1], 1, 0.2),
		"That is one node's election. When the leader dies, all miss it together, and each sends a message round of its own.",
		"%s; when one node alone misses the leader, %s", measured("ring"), power(exponentOf(all, "ring", 2)))
	r.claim("Raft takes O(n) messages an election.", near(grows["raft"][1], 1, 0.2),
		"O(n) is one candidate's. With timeouts of 150–300 ms the number of candidates within a message's travel grows with n, and so does "+
			"that of rounds.", "%s", measured("raft"))
	r.claim("next-in-line takes fewer messages than bully when the leader dies.", cheaper(all, "next-in-line"), "See the table.",
		"%s of bully's, at the largest cluster", percent(ratio(all, "next-in-line")))
	r.claim("candidate-ordinary takes fewer messages than bully when the leader dies.", cheaper(all, "candidate-ordinary"), "See the table.",
		"%s of bully's, at the largest cluster", percent(ratio(all, "candidate-ordinary")))
	plot, err := d.draw()
	r.Plots = append(r.Plots, plot)
	return err
}

func exponentOf(all []*found, target string, occasion int) float64 {
	sizes, _, worst := costs(all, target, occasion)
	return exponent(sizes, worst)
}

// ratio compares an election's worst cost of a crash with bully's, at the largest size.
func ratio(all []*found, target string) float64 {
	_, _, a := costs(all, target, 1)
	_, _, b := costs(all, "bully", 1)
	if len(a) == 0 || len(a) != len(b) {
		return math.NaN()
	}
	return a[len(a)-1] / b[len(b)-1]
}

func cheaper(all []*found, target string) bool { return ratio(all, target) < 1 }
