package claims

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"recount/election"
	"recount/history"
	seeds "recount/internal/seed"
	"recount/targets"
)

// handOver compares leaders that say goodbye with leaders that do not.
var handOver = &Experiment{
	Name:  "hand-over",
	Title: "Hand-over by resignation against hand-over by timeout",
	About: "Five nodes, and a leader that resigns and stays, is asked to end and does so politely, or is killed. " +
		"The time from there until a majority of all nodes names another leader is taken (never: not within ten " +
		"times the target's bound), for every election that can resign, with each target's own times.",
	Source: "[E]: stop taking work, drain, resign, so that the gap is far shorter than a timeout; [A] on scale-in",
	series: func(e Effort) (all []series) {
		for _, t := range resigning() {
			for _, way := range ways {
				all = append(all, series{t + " " + way, e.of(200), func(seed uint64) (sample, error) { return succession(t, way, seed) }})
			}
		}
		return all
	},
	conclude: concludeHandOver,
}

// ways in which a leader goes.
const (
	resigns = "resigns"
	stops   = "stops"
	killed  = "killed"
)

var ways = []string{resigns, stops, killed}

// resigning are the targets whose leaders can resign, and that have one leader at most when nothing is wrong.
func resigning() (names []string) {
	for _, t := range targets.All() {
		if t.Node == nil || t.Name == "random-backoff" {
			continue
		}
		o, err := t.Parse(nil)
		if err != nil {
			continue
		}
		if t.Can(election.Resign, o) {
			names = append(names, t.Name)
		}
	}
	return names
}

// silent are the targets whose leaders cannot resign.
func silent() (names []string) {
	for _, t := range targets.All() {
		if t.Node != nil && t.Name != "random-backoff" && !slices.Contains(resigning(), t.Name) {
			names = append(names, t.Name)
		}
	}
	return names
}

// succession returns how long a leader that goes is without a successor.
func succession(target, way string, seed uint64) (sample, error) {
	s, err := setup{target: target, nodes: 5}.open(seed)
	if err != nil {
		return nil, err
	}
	if _, err := s.settle(); err != nil {
		return nil, err
	}
	s.run(2*s.bounds.Elect + time.Duration(seeds.New(seed, "moment").Int64N(int64(s.bounds.Silence))))
	old, err := s.settle()
	if err != nil {
		return nil, err
	}
	switch way {
	case resigns:
		s.nodes[old].(election.Resigner).Resign()
	case stops:
		s.become(old, history.Stopped)
	default:
		s.become(old, history.Down)
	}
	went := s.Now()
	if !s.until(10*s.bounds.Elect, func() bool { return s.known(old) }) {
		return sample{math.Inf(1)}, nil
	}
	return sample{(s.Now() - went).Seconds()}, nil
}

func concludeHandOver(r *Result, all []*found) error {
	t := Table{
		Title: "Time until a majority knows the successor: median, and 99 %",
		Head:  []string{"election", "resigns", "", "stops politely", "", "killed", "", "killed ÷ resigns"},
	}
	slow, figures := []string{}, 0
	for _, target := range resigning() {
		row := []string{target}
		var medians []float64
		for _, way := range ways {
			v := by(all, target+" "+way).column(0)
			row = append(row, seconds(median(v)), seconds(quantile(v, 0.99)))
			medians = append(medians, median(v))
		}
		gain := medians[2] / medians[0]
		t.row(append(row, fmt.Sprintf("%.0f ×", gain))...)
		figures++
		if !(gain >= 3) {
			slow = append(slow, target)
		}
	}
	r.Tables = append(r.Tables, t)
	measured := fmt.Sprintf("by a factor of 3 or more for %d of %d elections", figures-len(slow), figures)
	if len(slow) > 0 {
		measured += "; not for " + strings.Join(slow, ", ")
	}
	r.claim("A graceful hand-over leaves a gap far shorter than a timeout.", len(slow) == 0,
		"A resignation saves the wait until silence is noticed, and not what the election itself waits for: in bully and its "+
			"kin the answer of the higher node that has just resigned, in stable-leader a round whose turn is that of a node that "+
			"does not lead yet.",
		"%s; these cannot resign: %s", measured, strings.Join(silent(), ", "))
	return nil
}
