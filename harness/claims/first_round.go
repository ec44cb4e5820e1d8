package claims

import (
	"fmt"
	"math"
	"time"

	"gonum.org/v1/plot/plotter"
)

// firstRound counts how often the first round of a Raft election has a winner.
var firstRound = &Experiment{
	Name:  "first-round",
	Title: "Chance of a winner in the first round",
	About: "The leader of n servers crashes, and it is counted how often the next leader leads in the very next " +
		"term. All messages travel for Δt = 10 ms, and election timeouts are spread over T, from 150 ms on.",
	Source: "[P]: one winner with a chance of about 1 − (Δt/T)^(n−1)",
	series: func(e Effort) (all []series) {
		for _, n := range roundSizes {
			for _, t := range spreads {
				all = append(all, series{roundName(n, t), e.of(1000), func(seed uint64) (sample, error) {
					return crashOfRaft(n, 150*time.Millisecond, 150*time.Millisecond+t, travel, travel, seed)
				}})
			}
		}
		return all
	},
	conclude: concludeFirstRound,
}

var (
	roundSizes = []int{3, 5, 7, 9}
	spreads    = []time.Duration{
		20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 150 * time.Millisecond, 300 * time.Millisecond,
	}
)

const travel = 10 * time.Millisecond

func roundName(n int, t time.Duration) string { return fmt.Sprintf("n = %d, T = %v", n, t) }

func concludeFirstRound(r *Result, all []*found) error {
	t := Table{Head: []string{"", "claimed: 1 − (Δt/T)^(n−1)", "nobody else campaigns: (1 − Δt/T)^(n−1)", "measured"}}
	d := drawing{name: "first-round", title: "Elections won in the first round (Δt = 10 ms)", x: "spread of the timeouts T (ms)", y: "share"}
	worst, between := 0.0, true
	for _, n := range roundSizes {
		measured := curve{name: fmt.Sprintf("%d servers", n), dots: true}
		claimed := curve{claim: true}
		if n == roundSizes[0] {
			claimed.name = "claimed, each"
		}
		for _, s := range spreads {
			f := by(all, roundName(n, s))
			if len(f.samples) == 0 {
				continue
			}
			share := travel.Seconds() / s.Seconds()
			says, alone, got := 1-math.Pow(share, float64(n-1)), math.Pow(1-share, float64(n-1)), inOneTerm(f)
			t.row(f.name, percent(says), percent(alone), percent(got))
			worst = max(worst, says-got)
			between = between && got >= alone-0.06
			measured.points = append(measured.points, plotter.XY{X: 1000 * s.Seconds(), Y: got})
			claimed.points = append(claimed.points, plotter.XY{X: 1000 * s.Seconds(), Y: says})
		}
		d.curves = append(d.curves, measured, claimed)
	}
	r.Tables = append(r.Tables, t)
	r.claim("The first round has one winner with a chance of about 1 − (Δt/T)^(n−1).", worst < 0.05,
		"The formula is the chance that not all n − 1 others campaign within Δt of the first. One is enough to split the vote "+
			"of three servers: there the chance is (1 − Δt/T)². With more servers the first candidate often gets a majority all "+
			"the same, and the chance lies between the two.",
		"up to %s less than claimed", percent(worst))
	r.claim("It is at least the chance that nobody else campaigns within Δt of the first, (1 − Δt/T)^(n−1).", between, "See the table.",
		"so for each n and T, within what chance allows; a rival does not always split the vote")
	plot, err := d.draw()
	r.Plots = append(r.Plots, plot)
	return err
}
