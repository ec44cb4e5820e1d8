package claims

import (
	"fmt"
	"time"

	"gonum.org/v1/plot/plotter"

	"recount/election"
	"recount/history"
	seeds "recount/internal/seed"
)

// leaderless is figure 16 of Raft's paper: how long five servers are without a leader, by the election timeout.
var leaderless = &Experiment{
	Name:  "time-without-leader",
	Title: "Time without a leader after a crash, by Raft's election timeout",
	About: "The leader of five servers crashes at a random moment of the heartbeat interval after a heartbeat to " +
		"all, and the time until another one leads is taken. In the slow network messages travel for 4 to 9 ms, so " +
		"that a broadcast and its answers take about 15 ms, as in the paper; in the fast one for 0.5 to 1.5 ms. " +
		"Heartbeats go out twice in the shortest timeout. A trial without a leader after 20 s is ended.",
	Source: `Ongaro and Ousterhout, "In Search of an Understandable Consensus Algorithm", section 9.3 and figure 16`,
	series: func(e Effort) (all []series) {
		for _, w := range networks {
			for _, t := range timeouts {
				all = append(all, series{w.name + t.name(), e.of(1000), func(seed uint64) (sample, error) {
					return crashOfRaft(5, t.min, t.max, w.min, w.max, seed)
				}})
			}
		}
		return all
	},
	conclude: concludeLeaderless,
}

// timeout is an election timeout, from the shortest to the longest.
type timeout struct{ min, max time.Duration }

func (t timeout) name() string {
	return fmt.Sprintf("%d–%d ms", t.min.Milliseconds(), t.max.Milliseconds())
}

var timeouts = func() (all []timeout) {
	for _, ms := range [][2]int{
		{150, 150}, {150, 151}, {150, 155}, {150, 175}, {150, 200}, {150, 300}, {12, 24}, {25, 50}, {50, 100}, {100, 200},
	} {
		all = append(all, timeout{time.Duration(ms[0]) * time.Millisecond, time.Duration(ms[1]) * time.Millisecond})
	}
	return all
}()

// networks are how long messages travel.
var networks = []struct {
	name, title string
	min, max    time.Duration
}{
	{"", "Slow network: a broadcast takes 15 ms, all of it on the way", 4 * time.Millisecond, 9 * time.Millisecond},
	{"fast ", "Fast network: messages travel for about 1 ms", 500 * time.Microsecond, 1500 * time.Microsecond},
}

// endless is when a trial is ended in which nobody leads.
const endless = 20 * time.Second

// crashOfRaft returns for how long raft is without a leader after a crash, and how many terms it took.
func crashOfRaft(nodes int, shortest, longest, latencyMin, latencyMax time.Duration, seed uint64) (sample, error) {
	heartbeat := shortest / 2
	s, err := setup{target: "raft", nodes: nodes, latencyMin: latencyMin, latencyMax: latencyMax, options: map[string]string{
		"election-timeout-min": shortest.String(), "election-timeout-max": longest.String(), "heartbeat": heartbeat.String(),
	}}.open(seed)
	if err != nil {
		return nil, err
	}
	// The first leader is not what this is about, and without randomness there might never be one: it is asked to campaign.
	s.nodes[0].Receive(2, election.Message{Kind: "TimeoutNow", Term: s.nodes[0].Status().Term})
	leader, err := s.settle()
	if err != nil {
		return nil, err
	}
	rnd := seeds.New(seed, "moment")
	s.run(heartbeat + time.Duration(rnd.Int64N(int64(time.Second))))
	beaten := false
	s.beat = func() { beaten = true }
	if !s.until(time.Second, func() bool { return beaten }) {
		return nil, fmt.Errorf("no heartbeat within a second")
	}
	s.run(time.Duration(rnd.Int64N(int64(heartbeat))))
	term := s.nodes[leader].Status().Term
	s.led = nil
	s.become(leader, history.Down)
	died := s.Now()
	if !s.until(endless, func() bool { return len(s.led) > 0 }) {
		return sample{endless.Seconds(), float64(s.ran[len(s.ran)-1].term - term)}, nil
	}
	return sample{(s.led[0].at - died).Seconds(), float64(s.led[0].term - term)}, nil
}

func concludeLeaderless(r *Result, all []*found) error {
	for i, w := range networks {
		t := Table{
			Title: w.title,
			Head:  []string{"election timeout", "min", "median", "mean", "99 %", "max", "in one term", "never within 20 s"},
		}
		d := drawing{
			name: []string{"time-without-leader", "time-without-leader-fast"}[i], title: "Time without a leader. " + w.title, x: "milliseconds",
			y: "share of crashes", logX: true,
		}
		for _, timeout := range timeouts {
			if f := by(all, w.name+timeout.name()); len(f.samples) > 0 {
				d.curves = append(d.curves, curve{name: timeout.name(), points: tell(&t, timeout, f)})
			}
		}
		r.Tables = append(r.Tables, t)
		plot, err := d.draw()
		if err != nil {
			return err
		}
		r.Plots = append(r.Plots, plot)
	}
	figure := func(name string) []float64 { return by(all, name).column(0) }
	none, tiny, some, wide := figure("150–150 ms"), figure("150–155 ms"), figure("150–200 ms"), figure("150–300 ms")
	short := figure("12–24 ms")
	long := 0.0
	for _, v := range none {
		long += one(v > 10)
	}
	r.claim("Without randomness (150–150 ms) elections consistently take longer than 10 s.", long/float64(len(none)) > 0.9,
		"Where one server happens to hear the last heartbeat first, by more than a message takes, it wins the first round; "+
			"where none does, the same servers split the vote in every round, and only the jitter of messages ends it.",
		"longer than 10 s in %s of the trials, %s at the median", percent(long/float64(len(none))), seconds(median(none)))
	r.claim("5 ms of randomness (150–155 ms) bring the median down to 287 ms.", near(median(tiny), 0.287, 0.35),
		"The median depends on how many rounds the vote is split, and that on the spread of the network's delays, of which the "+
			"paper gives only the mean.",
		"%s at the median; in the fast network %s", seconds(median(tiny)), seconds(median(figure("fast 150–155 ms"))))
	r.claim("50 ms of randomness (150–200 ms) bring the worst of 1,000 trials down to 513 ms.", near(most(some), 0.513, 0.35),
		"The paper's servers had logs of different lengths, so that some candidates could not win; these have not.",
		"%s at worst, %s at 99 %%", seconds(most(some)), seconds(quantile(some, 0.99)))
	r.claim("With 12–24 ms a leader is elected in 35 ms on average, in 152 ms at worst.",
		near(mean(short), 0.035, 0.35) && near(most(short), 0.152, 0.5),
		"A timeout close to the time of a broadcast makes several candidates at once; how often depends on the delays' spread.",
		"%s on average, %s at worst; in the fast network %s and %s", seconds(mean(short)), seconds(most(short)),
		seconds(mean(figure("fast 12–24 ms"))), seconds(most(figure("fast 12–24 ms"))))
	r.claim("150–300 ms are a conservative choice: five servers usually elect in one round.", usually(by(all, "150–300 ms")), "",
		"in one term in %s of the trials, within %s at 99 %%", percent(inOneTerm(by(all, "150–300 ms"))), seconds(quantile(wide, 0.99)))
	return nil
}

// tell adds a timeout's row to a table, and returns its points for the plot.
func tell(t *Table, of timeout, f *found) plotter.XYs {
	v := f.column(0)
	never := 0.0
	ms := make([]float64, len(v))
	for i := range v {
		never += one(v[i] >= endless.Seconds())
		ms[i] = 1000 * v[i]
	}
	longest := seconds(most(v))
	if never > 0 {
		longest = "> 20 s"
	}
	t.row(of.name(), seconds(least(v)), seconds(median(v)), seconds(mean(v)), seconds(quantile(v, 0.99)), longest,
		percent(inOneTerm(f)), percent(never/float64(len(v))))
	return cumulative(ms)
}

// near reports whether a value is within a share of what was claimed.
func near(v, claimed, share float64) bool { return v >= claimed*(1-share) && v <= claimed*(1+share) }

func inOneTerm(f *found) float64 {
	n := 0.0
	for _, s := range f.samples {
		n += one(s[1] <= 1)
	}
	return n / float64(len(f.samples))
}

func usually(f *found) bool { return inOneTerm(f) > 0.8 }
