package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"recount/harness/record"
	"recount/history"
	"recount/targets"
)

// Probe is what one node of a real system, started alone, lets Recount see.
type Probe struct {
	Image  string        // that it runs
	Args   []string      // that the image's entry point is given
	Ready  time.Duration // from the start until it was ready
	Views  []ProbeView   // each that differs from the one before, in order
	Asked  int
	Failed int           // of the questions
	Why    error         // why the last of these got no answer
	Slow   time.Duration // the slowest answer took
	Answer []byte        // the last, as the node gave it, where its observer keeps it
	Led    bool          // it led
	Told   int           // changes that it announced by itself
	Log    []string      // what it wrote
}

// ProbeView is a view, when it was first seen, and whether the node announced it by itself.
type ProbeView struct {
	At   time.Duration
	View history.View
	Told bool
}

// Try starts one node of a real system, alone, and asks it for its view until it has led for a while, or for as long as
// the target may take to elect. The node is gone when it returns. An error says that the node did not come up; what was
// seen until then is returned with it.
func Try(ctx context.Context, target string, options map[string]string, cfg Config) (p *Probe, err error) {
	s := &subject{Plan: record.Plan{Target: target, Options: options, On: record.OnDocker, Nodes: 1}, names: []string{"n1"}}
	if s.target, err = targets.Find(target); err != nil {
		return nil, Usage(err)
	}
	s.target = s.target.On(true, options)
	if s.options, err = s.target.Parse(options); err != nil {
		return nil, Usage(err)
	}
	s.bounds = s.target.Bounds(s.options)
	if cfg.Progress == nil {
		cfg.Progress = func(string) {}
	}
	dir, err := os.MkdirTemp("", "recount-try-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	c, err := openContainers(ctx, s, record.RunID(dir), cfg.Executable, cfg.Progress)
	if err != nil {
		return nil, err
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		err = errors.Join(err, c.SaveLogs(end, dir))
		if text, e := os.ReadFile(filepath.Join(dir, "nodes", "n1.log")); e == nil {
			p.Log = slices.Collect(strings.Lines(strings.TrimSpace(string(text))))
		}
		err = errors.Join(err, c.Close(end))
	}()
	p = &Probe{Image: c.image, Args: c.system.Container(c.members[0], c.members).Command}
	return p, p.watch(ctx, c)
}

// watch starts the node and looks at it.
func (p *Probe) watch(ctx context.Context, c *containers) error {
	c.OnExit(func(string, int) {})
	c.OnStall(func(time.Duration) {})
	c.OnGranted(func(string, history.Vote) {})
	c.OnApplied(func(string, history.Update) {})
	c.OnAnnounce(func(_ string, v history.View) {
		p.Told++
		p.see(c.Now(), v, true)
	})
	began := c.Now()
	if err := c.Start(ctx); err != nil {
		return err
	}
	p.Ready = c.Now() - began
	b := c.s.bounds
	led := time.Duration(0)
	for end := c.Now() + b.Elect + 2*b.Silence; c.Now() < end && led < max(2*b.Silence, time.Second); {
		if err := c.Run(ctx, c.Now()+b.Poll); err != nil {
			return err
		}
		if c.ended != "" {
			return fmt.Errorf("%s", c.ended)
		}
		p.ask(ctx, c)
		if n := len(p.Views); n > 0 && p.Views[n-1].View.Role == history.Leader {
			p.Led = true
			led += b.Poll
		}
	}
	if a, ok := c.asked["n1"].(*systemNode); ok {
		if keeps, ok := a.Observer.(interface{ Answer() []byte }); ok {
			p.Answer = keeps.Answer()
		}
	}
	return nil
}

func (p *Probe) ask(ctx context.Context, c *containers) {
	within, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	asked := time.Now()
	v, err := c.asked["n1"].View(within)
	p.Asked++
	if err != nil {
		p.Failed++
		p.Why = err
		return
	}
	p.Slow = max(p.Slow, time.Since(asked))
	p.see(c.Now(), v, false)
}

func (p *Probe) see(at time.Duration, v history.View, told bool) {
	if n := len(p.Views); n == 0 || p.Views[n-1].View != v {
		p.Views = append(p.Views, ProbeView{at, v, told})
	}
}
