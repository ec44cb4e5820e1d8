// Package estimate says what runs that were made tell of those that were not: how likely the next one is to show something
// new, and between which bounds a rate lies.
package estimate

// Unseen estimates the chance that one more run reaches something that none has reached. The zero value is that of no runs.
// It is not for several goroutines at once.
//
// What runs reach is told by keys, of which each run has any number. A run that has a key that no other run has would, had it
// been the last, have shown something new; the share of such runs is the estimate. It is the one of Good and Turing (Good, "The
// Population Frequencies of Species and the Estimation of Population Parameters", 1953) in the form of Robbins ("Estimating the
// Total Probability of the Unobserved Outcomes of an Experiment", 1968), who showed it to be unbiased for one run less, with runs
// in place of single observations. It supposes that runs are drawn alike. A search that prefers what led to something new draws
// later runs better than earlier ones, so for it the estimate is a measure of how fast it still learns.
type Unseen[K comparable] struct {
	runs   int
	only   map[K]int   // the run that alone has reached it, or several
	alone  map[int]int // of each run how many keys it alone has; runs without any are left out
	curve  []Point
	noteAt int // the number of runs at which the next point of the curve is taken
}

const several = -1

// Point is one of the curve of what was reached over the runs that it took.
type Point struct {
	Runs int `json:"runs"`
	Keys int `json:"keys"`
}

// Add counts a run that has reached the keys, in which each may come several times, and says how many of them no run before it
// had reached.
func (u *Unseen[K]) Add(keys func(yield func(K) bool)) (fresh int) {
	if u.only == nil {
		u.only, u.alone = map[K]int{}, map[int]int{}
	}
	u.runs++
	for k := range keys {
		switch run, known := u.only[k]; {
		case !known:
			u.only[k] = u.runs
			u.alone[u.runs]++
			fresh++
		case run != several && run != u.runs:
			u.only[k] = several
			if u.alone[run]--; u.alone[run] == 0 {
				delete(u.alone, run)
			}
		}
	}
	if u.runs >= u.noteAt {
		u.curve = append(u.curve, Point{u.runs, len(u.only)})
		u.noteAt = u.runs + 1 + u.runs/8
	}
	return fresh
}

// Runs is how many runs were counted.
func (u *Unseen[K]) Runs() int { return u.runs }

// Keys is how many different keys they have reached.
func (u *Unseen[K]) Keys() int { return len(u.only) }

// Chance estimates how likely one more run is to reach a key that none has reached, with its interval. That is wider than the
// one of a share: what is estimated varies with the runs as well. By Esty ("A Normal Limit Law for a Nonparametric Estimator of
// the Coverage of a Random Sample", 1983) the keys reached twice add twice their number to the variance. There are seldom more
// than half as many as of those reached once, so the variance is taken to be double.
func (u *Unseen[K]) Chance() Rate { return interval(len(u.alone), u.runs, 2) }

// Curve is how many keys had been reached after how many runs: some eight points for each doubling of the runs, and the last.
func (u *Unseen[K]) Curve() []Point {
	c := u.curve
	if n := len(c); n > 0 && c[n-1].Runs != u.runs {
		c = append(c[:n:n], Point{u.runs, len(u.only)})
	}
	return c
}
