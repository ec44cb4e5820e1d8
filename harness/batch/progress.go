package batch

import "time"

// Progress is how far a batch is.
type Progress struct {
	Doing   string // "keeping", an experiment, a run
	Done    int
	Planned int           // 0 if nobody knows
	Passed  time.Duration // real time
	Left    time.Duration // as it looks now; 0 if nobody knows
}

// Estimate works out what is left, within a budget if it is not 0.
func (p Progress) Estimate(budget time.Duration) Progress {
	p.Left = 0
	if p.Planned > 0 && p.Done > 0 {
		p.Left = time.Duration(float64(p.Passed) * float64(p.Planned-p.Done) / float64(p.Done))
	}
	if budget > 0 && (p.Planned == 0 || budget-p.Passed < p.Left) {
		p.Left = max(budget-p.Passed, 0)
	}
	return p
}
