package docker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"recount/docker/agent"
	"recount/history"
)

// Measurement is one fault as it was asked for and as it was seen to be.
type Measurement struct {
	Fault    string `json:"fault"`
	Asked    string `json:"asked"`
	Measured string `json:"measured,omitempty"`
	Why      string `json:"why,omitempty"` // it cannot be measured here
}

// measure is how one fault is measured, from n1 to n2 if it is about a link, else at n1.
type measure struct {
	fault, asked string
	inject       history.Changes
	look         func(ctx context.Context, c *Cluster) (string, error)
}

const (
	lossProbes = 2000 // a millisecond apart
	driftFor   = 2 * time.Second
	lastProbe  = 3 * time.Second // how long a packet that is still on its way is waited for
)

func measures() (all []measure) {
	link := func(fault, asked string, s history.LinkState, look func(context.Context, *Cluster) (string, error)) {
		change := history.Changes{Links: []history.Link{{From: "n1", To: "n2", LinkState: s}}}
		all = append(all, measure{fault, asked, change, look})
	}
	for _, p := range []float64{0.01, 0.1, 0.5} {
		link("loss", percent(p), history.LinkState{Loss: p}, measureLoss)
	}
	for _, d := range []time.Duration{10 * time.Millisecond, 50 * time.Millisecond} {
		link("delay", d.String(), history.LinkState{Delay: d}, measureDelay)
	}
	const jitter = 20 * time.Millisecond
	link("jitter", "50ms ± 20ms", history.LinkState{Delay: 50 * time.Millisecond, Jitter: jitter}, measureDelay)
	for _, r := range []int64{64_000, 1_000_000} {
		link("rate", fmt.Sprintf("%d kbit/s", r/1000), history.LinkState{Rate: r}, measureRate(r))
	}
	link("reorder", "25% of 50ms", history.LinkState{Reorder: 0.25, Delay: 50 * time.Millisecond}, measureReorder)
	link("duplicate", "30%", history.LinkState{Duplicate: 0.3}, measureDuplicate)
	link("cut", "100%", history.LinkState{Cut: true}, measureLoss)
	for _, by := range []time.Duration{30 * time.Second, -30 * time.Second, time.Millisecond} {
		all = append(all, measure{"clock jump", by.String(), clockOf(by, 0), measureJump})
	}
	for _, by := range []float64{0.01, -0.01, 0.0002} {
		all = append(all, measure{"clock drift", percent(by), clockOf(0, by), measureDrift})
	}
	return all
}

func clockOf(offset time.Duration, drift float64) history.Changes {
	return history.Changes{Clocks: []history.Clock{{Node: "n1", Offset: offset, Drift: drift}}}
}

// Measure makes a small cluster, injects faults into it, and measures what becomes of packets and of clocks. A fault that
// does not work here has a row that says why. An error means that there is no cluster to measure on.
func Measure(ctx context.Context, progress func(string)) (rows []Measurement, err error) {
	e, err := Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	image, err := e.SelfImage(ctx, progress)
	if err != nil {
		return nil, err
	}
	return e.measure(ctx, image, measures(), progress)
}

func (e *Engine) measure(ctx context.Context, image string, all []measure, progress func(string)) (rows []Measurement, err error) {
	name := fmt.Sprintf("measure-%d", time.Now().UnixNano())
	c, err := e.Open(ctx, Config{Run: name, Nodes: []string{"n1", "n2"}, SelfImage: image, Clocks: true, Log: progress})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close(ctx)) }()
	node := Container{Image: image, Command: []string{SelfPath, "anchor"}}
	if err := c.Launch(ctx, map[string]Container{"n1": node, "n2": node}); err != nil {
		return nil, err
	}
	for _, m := range all {
		progress(fmt.Sprintf("measuring %s %s", m.fault, m.asked))
		row := Measurement{Fault: m.fault, Asked: m.asked}
		if row.Measured, err = c.measured(ctx, m); err != nil {
			row.Why = err.Error()
		}
		if ctx.Err() != nil {
			return rows, context.Cause(ctx)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// measured measures one fault and heals it.
func (c *Cluster) measured(ctx context.Context, m measure) (got string, err error) {
	if err := c.Can(m.inject); err != nil {
		return "", err
	}
	heal := history.Changes{}
	for _, l := range m.inject.Links {
		heal.Links = append(heal.Links, history.Link{From: l.From, To: l.To})
	}
	for _, k := range m.inject.Clocks {
		heal.Clocks = append(heal.Clocks, history.Clock{Node: k.Node})
	}
	defer func() {
		_, healErr := c.try(ctx, heal)
		err = errors.Join(err, healErr)
	}()
	if _, err = c.try(ctx, m.inject); err != nil {
		return "", err
	}
	return m.look(ctx, c)
}

// gauge sends packets from n1 to n2 and tells what became of them.
func (c *Cluster) gauge(ctx context.Context, count int, every time.Duration, size int) (*agent.Gauged, error) {
	answer, err := c.remote.ask(ctx, agent.Request{Gauge: &agent.Gauge{
		From: "n1", To: "n2", Count: count, Every: every, Size: size, Wait: lastProbe,
	}})
	if err != nil {
		return nil, fmt.Errorf("send packets from n1 to n2: %w", err)
	}
	slices.Sort(answer.Gauged.Delays)
	return answer.Gauged, nil
}

func measureLoss(ctx context.Context, c *Cluster) (string, error) {
	g, err := c.gauge(ctx, lossProbes, time.Millisecond, 64)
	if err != nil {
		return "", err
	}
	lost := g.Sent - len(g.Delays)
	return fmt.Sprintf("%s: %d of %d packets", percent(float64(lost)/float64(g.Sent)), lost, g.Sent), nil
}

func measureDelay(ctx context.Context, c *Cluster) (string, error) {
	g, err := c.gauge(ctx, 500, 2*time.Millisecond, 64)
	if err != nil {
		return "", err
	}
	if len(g.Delays) == 0 {
		return "", errors.New("no packet arrived")
	}
	short := func(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
	return fmt.Sprintf("%v in the middle, %v to %v", short(g.Delays[len(g.Delays)/2]), short(g.Delays[0]), short(g.Delays[len(g.Delays)-1])), nil
}

// measureRate keeps a link busy for about half a second.
func measureRate(rate int64) func(context.Context, *Cluster) (string, error) {
	return func(ctx context.Context, c *Cluster) (string, error) {
		const size = 500
		count := int(rate / 2 / (8 * size))
		g, err := c.gauge(ctx, count, 0, size)
		if err != nil {
			return "", err
		}
		if len(g.Delays) < 2 || g.Took <= 0 {
			return "", errors.New("too few packets arrived")
		}
		carried := float64(8*size*len(g.Delays)) / g.Took.Seconds()
		return fmt.Sprintf("%.1f kbit/s: %d packets of %d bytes in %v", carried/1000, len(g.Delays), size, g.Took.Round(time.Millisecond)), nil
	}
}

// measureReorder counts the packets that were not held back.
func measureReorder(ctx context.Context, c *Cluster) (string, error) {
	g, err := c.gauge(ctx, lossProbes, time.Millisecond, 64)
	if err != nil {
		return "", err
	}
	quick := 0
	for _, d := range g.Delays {
		if d < 25*time.Millisecond {
			quick++
		}
	}
	return fmt.Sprintf("%s: %d of %d packets at once; %d came before an earlier one",
		percent(float64(quick)/float64(g.Sent)), quick, g.Sent, g.Early), nil
}

func measureDuplicate(ctx context.Context, c *Cluster) (string, error) {
	g, err := c.gauge(ctx, lossProbes, time.Millisecond, 64)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s: %d of %d packets came twice", percent(float64(g.Twice)/float64(g.Sent)), g.Twice, g.Sent), nil
}

func measureJump(ctx context.Context, c *Cluster) (string, error) {
	told, err := c.ask(ctx, "n1")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%v ± %v", told.Wall, told.Accuracy), nil
}

func measureDrift(ctx context.Context, c *Cluster) (string, error) {
	from, err := c.ask(ctx, "n1")
	if err == nil {
		err = c.Run(ctx, c.Now()+driftFor)
	}
	if err != nil {
		return "", err
	}
	to, err := c.ask(ctx, "n1")
	if err != nil {
		return "", err
	}
	passed := float64(to.At - from.At)
	wall, monotonic := float64(to.Wall-from.Wall)/passed, float64(to.Monotonic-from.Monotonic)/passed
	out := float64(from.Accuracy+to.Accuracy) / passed
	return fmt.Sprintf("wall %s, monotonic %s, ± %s", percent(wall), percent(monotonic), percent(out)), nil
}

func percent(share float64) string { return fmt.Sprintf("%.4g%%", math.Round(share*1e6)/1e4) }

// asks is how often a process is asked for the time: the answer that took the least of it is the most accurate.
const asks = 7

// ask has the process of a node tell its clocks.
func (c *Cluster) ask(ctx context.Context, node string) (best *agent.Told, err error) {
	for range asks {
		answer, err := c.remote.ask(ctx, agent.Request{Ask: node})
		if err != nil {
			return nil, fmt.Errorf("ask %s for the time: %w", node, err)
		}
		if best == nil || answer.Told.Accuracy < best.Accuracy {
			best = answer.Told
		}
	}
	return best, nil
}
