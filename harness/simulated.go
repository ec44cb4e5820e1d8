package harness

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"recount/docker/member"
	"recount/election"
	"recount/history"
	"recount/sim"
	"recount/workloads"
)

// simulated is a cluster in virtual time.
type simulated struct {
	*sim.Cluster
	seed  uint64
	turns atomic.Int64 // of Run that are over
	watch *time.Timer  // of the one under way
}

func openSimulated(s *subject) (*simulated, error) {
	c, err := sim.New(sim.Config{
		Nodes: s.Nodes,
		Seed:  s.Seed,
		New:   func(env election.Env) election.Node { return s.target.Node(s.options, env) },
		Port:  member.PeerPort,
		Work:  s.mostWork(),
		Often: []time.Duration{s.bounds.Poll, writeEvery},
	})
	if err != nil {
		return nil, err
	}
	return &simulated{Cluster: c, seed: s.Seed}, nil
}

func (c *simulated) Start(context.Context) error { c.Cluster.Start(); return nil }

func (c *simulated) State(context.Context) (history.Changes, error) { return c.Cluster.State(), nil }

func (c *simulated) OnStall(func(time.Duration)) {} // virtual time does not stall
func (c *simulated) Close(context.Context) error { return nil }

// SaveLogs writes to dir why those processes ended that panicked; nodes write nothing else.
func (c *simulated) SaveLogs(_ context.Context, dir string) error {
	for node, wrote := range c.Wrote() {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, node+".log"), wrote, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (c *simulated) Writers(f *workloads.Fence, every, gap time.Duration) {
	to := newResource(f, c.After, c.seed)
	c.OnStart(func(id election.ID, p *sim.Process) {
		h := &simulatedWriter{Process: p, to: to, rand: writerRand(c.seed, p.Name(), uint64(p.Life()))}
		workloads.NewWriter(h, id, uint64(p.Life()), every, gap).Start()
	})
}

// Renew implements renewed.
func (c *simulated) Renew(node string, ticket uint64, done func(error)) {
	done(c.Cluster.Renew(node, ticket))
}

// Sees implements renewed. Whoever looks is no part of what is simulated.
func (c *simulated) Sees(node string, who election.ID, done func(election.Membership, error)) {
	as, err := c.Membership(node, who)
	c.After(0, func() { done(as, err) })
}

// simulatedWriter is the process that a writer lives in.
type simulatedWriter struct {
	*sim.Process
	to   *resource
	rand *rand.Rand
}

func (w *simulatedWriter) Rand() *rand.Rand                { return w.rand }
func (w *simulatedWriter) Write(token uint64, value int64) { w.to.write(w.Name(), token, value) }
