// Package detector tells the silence of a failed member from that of a slow one.
package detector

import (
	"math"
	"time"

	"recount/election"
	"recount/targets"
)

// Detector is a failure detector: from the heartbeats of one member at a time it works out how long a silence may last
// before it means that the member has failed.
type Detector interface {
	// Heard takes note of a heartbeat of id. The first of another member than before starts anew.
	Heard(id election.ID, now time.Duration)
	// Patience is how long after the last heartbeat the next one is waited for.
	Patience() time.Duration
}

// Options are the options of an algorithm with heartbeats and a failure detector, by default one that waits for so
// many of them.
func Options(heartbeat, missed string) []targets.Option {
	return []targets.Option{
		{Name: "heartbeat", Kind: targets.Duration, Default: heartbeat, About: "time between a leader's heartbeats"},
		{
			Name: "detector", Kind: targets.Choice, Default: "threshold", Choices: []string{"threshold", "phi-accrual"},
			About: "how silence is told from failure: a fixed number of missing heartbeats, or by what they have been like",
		},
		{Name: "missed", Kind: targets.Number, Default: missed, About: "threshold: how many missing heartbeats are a failure"},
		{
			Name: "phi", Kind: targets.Number, Default: "8",
			About: "phi-accrual: suspicion that is a failure; 8 errs once in 10^8 heartbeats, if they are as before",
		},
	}
}

// New makes the detector that Options ask for.
func New(o targets.Options) Detector {
	interval := targets.Scaled(o, "heartbeat")
	if o.Value("detector") == "phi-accrual" {
		return newPhiAccrual(o.Number("phi"), interval)
	}
	return threshold(o.Number("missed") * float64(interval))
}

// Silence is the longest that such a detector waits.
func Silence(o targets.Options) time.Duration {
	interval := targets.Scaled(o, "heartbeat")
	if o.Value("detector") == "phi-accrual" {
		return phiLongest * interval
	}
	return time.Duration(o.Number("missed") * float64(interval))
}

// threshold suspects whom it has not heard for a fixed time.
type threshold time.Duration

func (d threshold) Heard(election.ID, time.Duration) {}
func (d threshold) Patience() time.Duration          { return time.Duration(d) }

// phiAccrual is the detector of Hayashibara, Défago, Yared and Katayama, "The φ Accrual Failure Detector" (2004),
// section 4: suspicion is φ(t) = −log10(1 − F(t)), t being the time since the last heartbeat and F the normal
// distribution with the mean and the deviation of the last intervals between heartbeats. So φ = 1 errs in one of ten,
// 8 in one of 10⁸.
//
// As Akka's it starts from an estimate, has a least deviation (of a quarter of an interval, so that one lost heartbeat
// is no failure), and does not learn from a silence that it took for a failure.
//
// Products are rounded before anything is added to them (float64(x*y)): else some processors would do both in one step, and the same
// seed would make another run on those.
type phiAccrual struct {
	quantile     float64 // how many deviations above the mean φ reaches the suspicion that is asked for
	interval     float64
	of           election.ID
	last         time.Duration
	past         [phiWindow]float64 // the last intervals, in nanoseconds
	known        int                // how many of them there are
	next         int                // the place for the next one
	sum, squares float64            // of those there are, less the interval that was agreed on
}

const (
	phiWindow  = 1000 // intervals, as in the paper
	phiLongest = 6    // heartbeats: the longest patience, whatever the heartbeats were like
)

func newPhiAccrual(phi float64, interval time.Duration) *phiAccrual {
	d := &phiAccrual{interval: float64(interval)}
	d.quantile = math.Sqrt2 * math.Erfcinv(2*math.Pow(10, -min(phi, 300)))
	d.restart()
	return d
}

// restart takes for granted that heartbeats come as they should, with a deviation of a quarter.
func (d *phiAccrual) restart() {
	d.known, d.next, d.sum, d.squares = 0, 0, 0, 0
	d.learn(float64(d.interval * 3 / 4))
	d.learn(float64(d.interval * 5 / 4))
}

func (d *phiAccrual) Heard(id election.ID, now time.Duration) {
	switch {
	case id != d.of:
		d.of = id
		d.restart()
	case now-d.last <= d.Patience():
		d.learn(float64(now - d.last))
	}
	d.last = now
}

func (d *phiAccrual) learn(interval float64) {
	off := interval - d.interval
	if d.known == phiWindow {
		old := d.past[d.next]
		d.sum -= old
		d.squares -= float64(old * old)
	} else {
		d.known++
	}
	d.past[d.next] = off
	d.next = (d.next + 1) % phiWindow
	d.sum += off
	d.squares += float64(off * off)
}

// Patience is the time at which φ reaches what was asked for: the quantile of F.
func (d *phiAccrual) Patience() time.Duration {
	wait := d.interval + d.sum/float64(d.known) + float64(d.quantile*d.deviation())
	return time.Duration(min(max(wait, 0), phiLongest*d.interval))
}

func (d *phiAccrual) deviation() float64 {
	mean := d.sum / float64(d.known)
	return max(math.Sqrt(max(0, d.squares/float64(d.known)-float64(mean*mean))), d.interval/4)
}
