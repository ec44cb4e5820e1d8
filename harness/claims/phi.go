package claims

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/plot/plotter"

	seeds "recount/internal/seed"
	"recount/targets"
	"recount/targets/algorithms/detector"
)

// phi counts the mistakes of phi-accrual: heartbeats that came, and came after it had given the leader up.
var phi = &Experiment{
	Name:  "phi-accrual",
	Title: "How often phi-accrual takes a live leader for dead",
	About: "Heartbeats arrive for ever at intervals drawn from a distribution with a mean of one second and a " +
		"deviation of 0.3 s, and each that the detector had not waited for is a mistake. No leader ever dies. The " +
		"detector is the targets' own (--opt detector=phi-accrual).",
	Source: "[E]; Hayashibara et al., \"The φ Accrual Failure Detector\" (2004): a threshold of φ errs once in 10^φ heartbeats",
	series: func(e Effort) (all []series) {
		for _, j := range jitters {
			for _, p := range thresholds {
				all = append(all, series{j.name + each(" φ=%v", p), e.of(200), func(seed uint64) (sample, error) {
					return countMistakes(p, j.draw, seed)
				}})
			}
		}
		return all
	},
	conclude: concludePhi,
}

var thresholds = []float64{1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 8}

// jitters are ways for heartbeats to be late: what remains of one second's mean and 0.3 s of deviation is their shape.
var jitters = []struct {
	name string
	draw func(*rand.Rand) float64
}{
	{"normal", func(r *rand.Rand) float64 { return 1 + 0.3*r.NormFloat64() }},
	{"uniform", func(r *rand.Rand) float64 { return 1 + 0.3*math.Sqrt(3)*(2*r.Float64()-1) }},
	{"exponential tail", func(r *rand.Rand) float64 { return 0.7 + 0.3*r.ExpFloat64() }},
}

// beats are the heartbeats of one trial, after as many as the detector's memory holds.
const beats = 20_000

func countMistakes(phi float64, draw func(*rand.Rand) float64, seed uint64) (sample, error) {
	t, err := targets.Find("heartbeat-only")
	if err != nil {
		return nil, err
	}
	o, err := t.Parse(map[string]string{
		"detector": "phi-accrual", "phi": strconv.FormatFloat(phi, 'g', -1, 64), "heartbeat": "1s", "scale": "1",
	})
	if err != nil {
		return nil, err
	}
	d := detector.New(o)
	rnd := seeds.New(seed, "jitter")
	now := time.Duration(0)
	mistakes := 0.0
	for k := range 1000 + beats {
		wait := time.Duration(max(draw(rnd), 0) * float64(time.Second))
		if k >= 1000 {
			mistakes += one(wait > d.Patience())
		}
		now += wait
		d.Heard(1, now)
	}
	return sample{mistakes, beats, d.Patience().Seconds()}, nil
}

func concludePhi(r *Result, all []*found) error {
	t := Table{Head: []string{"φ", "claimed"}}
	for _, j := range jitters {
		t.Head = append(t.Head, j.name)
	}
	t.Head = append(t.Head, "waits for")
	curves := make([]curve, len(jitters))
	claimed := curve{name: "claimed", claim: true}
	within := 0.0 // the worst factor between claim and measurement where intervals are normal
	judged := 0
	var tail float64
	for _, p := range thresholds {
		row := []string{fmt.Sprintf("%g", p), fmt.Sprintf("%.1e", math.Pow(10, -p))}
		claimed.points = append(claimed.points, plotter.XY{X: p, Y: math.Pow(10, -p)})
		patience := math.NaN()
		for i, j := range jitters {
			f := by(all, j.name+each(" φ=%v", p))
			made, of := floats.Sum(f.column(0)), floats.Sum(f.column(1))
			switch {
			case of == 0:
				row = append(row, "–")
				continue
			case made == 0:
				row = append(row, fmt.Sprintf("none in %.0e", of))
			default:
				row = append(row, fmt.Sprintf("%.1e", made/of))
			}
			curves[i].name = j.name
			curves[i].points = append(curves[i].points, plotter.XY{X: p, Y: made / of})
			if j.name == "normal" {
				patience = mean(f.column(2))
				if made >= 100 {
					off := made / of / math.Pow(10, -p)
					within, judged = max(within, off, 1/off), judged+1
				}
			}
			if i == 2 {
				tail = max(tail, made/of/math.Pow(10, -p))
			}
		}
		t.row(append(row, seconds(patience))...)
	}
	r.Tables = append(r.Tables, t)
	r.claim("A threshold of φ errs once in 10^φ heartbeats, if their intervals are normal.", judged > 0 && within < 1.5,
		"The smaller φ is, the more intervals the detector takes for failures, and from those it does not learn: what it fits is the distribution "+
			"without its tail. From φ = 2 on that makes no difference that matters.",
		"within a factor of %.2f wherever 100 mistakes or more were counted (%d thresholds)", within, judged)
	r.claim("φ = 8 is a chance of a mistake of 10⁻⁸.", tail < 10,
		"It is so for normal intervals alone. Delays with a longer tail, such as queues and retransmissions make, exceed the "+
			"fitted normal distribution far more often than it says; delays with an upper bound never do.",
		"with an exponential tail of the same mean and deviation mistakes were up to %.0e times as frequent as claimed", tail)
	plot, err := drawing{
		name: "phi-accrual", title: "Mistakes of phi-accrual, by the shape of the heartbeats' jitter", x: "φ",
		y: "mistakes per heartbeat", logY: true, curves: append(curves, claimed),
	}.draw()
	r.Plots = append(r.Plots, plot)
	return err
}
