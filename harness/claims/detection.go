package claims

import (
	"fmt"
	"strconv"
	"time"

	"gonum.org/v1/plot/plotter"

	"recount/history"
	seeds "recount/internal/seed"
)

// detection kills a leader and measures how long it takes others to notice.
var detection = &Experiment{
	Name:  "detection",
	Title: "How long a dead leader goes unnoticed",
	About: "A leader of five is killed at a random moment, and the time until the first of the others takes it for " +
		"dead is taken. With a fixed threshold (target heartbeat-only; the moment before its next look is when it " +
		"notices), and with Raft's election timeout of 1 to 2 s, where the first candidate is who has noticed.",
	Source: "[E] on heartbeats and timeouts; [P] on downtime",
	series: func(e Effort) (all []series) {
		for _, c := range detectors {
			all = append(all, series{c.name(), e.of(1000), c.trial})
		}
		return append(all, series{"raft", e.of(1000), slowRaft})
	},
	conclude: concludeDetection,
}

// threshold is a detector that waits for so many heartbeats.
type threshold struct {
	interval time.Duration
	missed   int
}

var detectors = []threshold{
	{200 * time.Millisecond, 3}, {500 * time.Millisecond, 2}, {500 * time.Millisecond, 3}, {time.Second, 2}, {time.Second, 3},
	{time.Second, 5}, {2 * time.Second, 3},
}

func (d threshold) name() string { return fmt.Sprintf("%v × %d", d.interval, d.missed) }

func (d threshold) product() float64 { return d.interval.Seconds() * float64(d.missed) }

// trial returns how long the first detection took. Who finds the leader silent stops naming it.
func (d threshold) trial(seed uint64) (sample, error) {
	s, err := setup{target: "heartbeat-only", nodes: 5, options: map[string]string{
		"scale": "1", "heartbeat": d.interval.String(), "missed": strconv.Itoa(d.missed),
	}}.open(seed)
	if err != nil {
		return nil, err
	}
	leader, err := s.settle()
	if err != nil {
		return nil, err
	}
	rnd := seeds.New(seed, "moment")
	s.run(d.interval + time.Duration(rnd.Int64N(int64(2*d.interval))))
	s.become(leader, history.Down)
	died := s.Now()
	noticed := func() bool {
		for i, n := range s.nodes {
			if i != leader && n.Status().Leader.String() != s.name(leader) {
				return true
			}
		}
		return false
	}
	if !s.until(time.Minute, noticed) {
		return nil, fmt.Errorf("%s: nobody noticed within a minute", d.name())
	}
	return sample{(s.Now() - died).Seconds()}, nil
}

// slowRaft returns how long the first candidacy took, from there the leadership, and both together.
func slowRaft(seed uint64) (sample, error) {
	s, err := setup{target: "raft", nodes: 5, options: map[string]string{
		"election-timeout-min": "1s", "election-timeout-max": "2s", "heartbeat": "300ms",
	}}.open(seed)
	if err != nil {
		return nil, err
	}
	leader, err := s.settle()
	if err != nil {
		return nil, err
	}
	s.run(time.Duration(seeds.New(seed, "moment").Int64N(int64(time.Second))) + time.Second)
	s.become(leader, history.Down)
	died := s.Now()
	s.ran, s.led = nil, nil
	if !s.until(time.Minute, func() bool { return len(s.led) > 0 }) {
		return nil, fmt.Errorf("no leader within a minute")
	}
	detected, led := s.ran[0].at-died, s.led[0].at-died
	return sample{detected.Seconds(), (led - detected).Seconds(), led.Seconds()}, nil
}

func concludeDetection(r *Result, all []*found) error {
	t := Table{Title: "Fixed threshold", Head: []string{"interval × threshold", "claimed", "min", "mean", "99 %", "max"}}
	var measured, claimed plotter.XYs
	within, worst := true, 0.0
	for _, d := range detectors {
		v := by(all, d.name()).column(0)
		if len(v) == 0 {
			continue
		}
		t.row(d.name(), seconds(d.product()), seconds(least(v)), seconds(mean(v)), seconds(quantile(v, 0.99)), seconds(most(v)))
		measured = append(measured, plotter.XY{X: d.product(), Y: mean(v)})
		claimed = append(claimed, plotter.XY{X: d.product(), Y: d.product()})
		within = within && most(v) <= d.product()+0.02
		worst = max(worst, most(v)/d.product())
	}
	r.Tables = append(r.Tables, t)
	one := by(all, threshold{time.Second, 3}.name()).column(0)
	r.claim("Detection takes interval × threshold: 3 s for 1 s × 3.", len(one) > 0 && mean(one) > 2.9,
		"The product is the longest that it takes, counted from the last heartbeat. A leader dies at any time between two "+
			"heartbeats, so the mean is half an interval less.",
		"1 s × 3: %s on average, %s at most; over all settings at most %s of the product",
		seconds(mean(one)), seconds(most(one)), percent(worst))
	r.claim("Interval × threshold is an upper bound of detection.", within, "See the table.",
		"at most %s of it; what exceeds it is the way of the last heartbeat", percent(worst))
	slow := by(all, "raft")
	rt := Table{Title: "Raft, election timeout 1–2 s, five servers", Head: []string{"", "claimed", "median", "mean", "99 %", "max"}}
	for i, c := range []struct{ name, claimed string }{
		{"detection", "1–2 s"}, {"election", "300–500 ms"}, {"downtime", "1–2 s"},
	} {
		v := slow.column(i)
		rt.row(c.name, c.claimed, seconds(median(v)), seconds(mean(v)), seconds(quantile(v, 0.99)), seconds(most(v)))
	}
	r.Tables = append(r.Tables, rt)
	det, el, down := slow.column(0), slow.column(1), slow.column(2)
	r.claim("Followers detect a dead leader within 1–2 s.", median(det) >= 0.9 && quantile(det, 0.99) <= 2,
		"The first of four followers notices, and that is sooner than any one of them.",
		"%s at the median, %s to %s", seconds(median(det)), seconds(least(det)), seconds(most(det)))
	r.claim("The election itself takes 300–500 ms.", median(el) >= 0.3 && median(el) <= 0.5,
		"Once somebody campaigns, an election is one round trip; only a split vote costs another timeout. What takes 300–500 ms "+
			"in all, silence included, is Raft with timeouts of 150–300 ms.",
		"%s at the median, %s at 99 %%", seconds(median(el)), seconds(quantile(el, 0.99)))
	r.claim("All in all a cluster is without a leader for 1–2 s, against 30 min by hand.",
		median(down) >= 0.9 && quantile(down, 0.9) <= 2, "", "%s at the median, %s at 90 %%, %s at 99 %%",
		seconds(median(down)), seconds(quantile(down, 0.9)), seconds(quantile(down, 0.99)))
	plot, err := drawing{
		name: "detection", title: "Detection time of a dead leader", x: "interval × threshold (s)", y: "seconds",
		curves: []curve{{name: "mean, measured", points: measured, dots: true}, {name: "claimed", points: claimed, claim: true}},
	}.draw()
	r.Plots = append(r.Plots, plot)
	return err
}
