package estimate

import (
	"fmt"
	"math"
)

// Rate is a share of trials, and the bounds between which the true one lies with 95 % confidence, all from 0 to 1.
type Rate struct {
	Hits   int     `json:"hits"`
	Trials int     `json:"trials"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// Of is the rate of hits in trials, with Wilson's score interval ("Probable Inference, the Law of Succession, and Statistical
// Inference", 1927), which holds for few trials and for rates near 0 and 1. Of no trials nothing is known: 0 to 1.
func Of(hits, trials int) Rate { return interval(hits, trials, 1) }

// interval is Wilson's for a share whose variance is so many times that of independent trials.
func interval(hits, trials int, variance float64) Rate {
	r := Rate{Hits: hits, Trials: trials, High: 1}
	if trials <= 0 {
		return r
	}
	hits = min(hits, trials) // of more nobody could take the root
	r.Hits = hits
	const z = 1.959963984540054 // of the normal distribution 95 % lie within so many standard deviations
	n, p := float64(trials)/variance, float64(hits)/float64(trials)
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	r.Low, r.High = max(0, middle-half), min(1, middle+half)
	if hits == 0 { // exactly, where rounding would leave a trace
		r.Low = 0
	}
	if hits == trials {
		r.High = 1
	}
	return r
}

// Share is hits by trials, 0 of none.
func (r Rate) Share() float64 {
	if r.Trials <= 0 {
		return 0
	}
	return float64(r.Hits) / float64(r.Trials)
}

// String is "3.1 % (1.2 to 7.9 %)".
func (r Rate) String() string {
	if r.Trials <= 0 {
		return "unknown"
	}
	return fmt.Sprintf("%s %% (%s to %s %%)", percent(r.Share()), percent(r.Low), percent(r.High))
}

// percent writes a share with two digits that count, or as much of it as is worth reading.
func percent(x float64) string {
	x *= 100
	switch {
	case x == 0 || x >= 99.95:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.0f", x)
	case x >= 0.1:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.1g", x)
}

// Pool is what several estimates of the chance of something new come to together, where what is reached is never the same.
func Pool(of ...Rate) Rate {
	hits, trials := 0, 0
	for _, r := range of {
		hits, trials = hits+r.Hits, trials+r.Trials
	}
	return interval(hits, trials, 2)
}
