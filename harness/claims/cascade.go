package claims

import (
	"math"
	"strings"

	"recount/history"
)

// cascade kills leader after leader.
var cascade = &Experiment{
	Name:  "cascade",
	Title: "Downtime while leader after leader is killed",
	About: "The leader of five is killed, and then its successor, as soon as that leads: three of five are left, a " +
		"majority. The time without a leader known to a majority is taken for each, with each target's own times.",
	Source: "[P]: cascading failures; always one leader again while a majority lives",
	series: func(e Effort) (all []series) {
		for _, t := range electing {
			all = append(all, series{t, e.of(200), func(seed uint64) (sample, error) { return leaderAfterLeader(t, seed) }})
		}
		return all
	},
	conclude: concludeCascade,
}

// electing are the elections that replace dead leaders for as long as a majority lives.
var electing = []string{
	"raft", "raft-prevote", "blazingmq-term", "blazingmq-scouting", "bully", "bully-quorum", "next-in-line", "candidate-ordinary", "ring",
	"invitation", "stable-leader", "leader-lease", "kubernetes-lease", "zookeeper-recipe", "etcd-election",
}

// leaderAfterLeader returns the two gaps, and for each whether it stayed within the target's bound.
func leaderAfterLeader(target string, seed uint64) (all sample, err error) {
	s, err := setup{target: target, nodes: 5}.open(seed)
	if err != nil {
		return nil, err
	}
	leader, err := s.settle()
	if err != nil {
		return nil, err
	}
	s.run(s.bounds.Elect)
	for range 2 {
		if leader, err = s.settle(); err != nil {
			return nil, err
		}
		s.become(leader, history.Down)
		died := s.Now()
		if !s.until(5*s.bounds.Elect, func() bool { return s.known(leader) }) {
			return sample{math.Inf(1), 0, math.Inf(1), 0}, nil
		}
		all = append(all, (s.Now() - died).Seconds(), one(s.Now()-died <= s.bounds.Elect))
	}
	return all, nil
}

func concludeCascade(r *Result, all []*found) error {
	t := Table{Head: []string{"election", "first: median", "99 %", "second: median", "99 %", "both: median", "within its bound"}}
	late := []string{}
	for _, f := range all {
		if len(f.samples) == 0 {
			continue
		}
		a, b := f.column(0), f.column(2)
		both := make([]float64, len(a))
		within := 0.0
		for i, s := range f.samples {
			both[i] = a[i] + b[i]
			within += s[1] * s[3]
		}
		share := within / float64(len(a))
		if share < 1 {
			late = append(late, f.name)
		}
		t.row(f.name, seconds(median(a)), seconds(quantile(a, 0.99)), seconds(median(b)), seconds(quantile(b, 0.99)),
			seconds(median(both)), percent(share))
	}
	r.Tables = append(r.Tables, t)
	measured := "so for each election, each time within its bound"
	if len(late) > 0 {
		measured = "late for " + strings.Join(late, ", ")
	}
	r.claim("Leader killed, successor killed: always one leader again while a majority lives.", len(late) == 0,
		"The bound of these elections was exceeded; see the table.", "%s", measured)
	return nil
}
