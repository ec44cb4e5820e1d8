package harness

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"recount/docker/member"
	"recount/election"
	"recount/history"
	"recount/internal/seed"
	"recount/sim"
	"recount/workloads"
)

// simulated is a cluster in virtual time.
type simulated struct {
	*sim.Cluster
	seed uint64
}

func openSimulated(s *subject) (*simulated, error) {
	c, err := sim.New(sim.Config{
		Nodes: s.Nodes,
		Seed:  s.Seed,
		New:   func(env election.Env) election.Node { return s.target.Node(s.options, env) },
		Port:  member.PeerPort,
		Work:  s.mostWork(),
	})
	if err != nil {
		return nil, err
	}
	return &simulated{c, s.Seed}, nil
}

func (c *simulated) Start(context.Context) error { c.Cluster.Start(); return nil }

func (c *simulated) State(context.Context) (history.Changes, error) { return c.Cluster.State(), nil }

func (c *simulated) OnStall(func(time.Duration))            {} // virtual time does not stall
func (c *simulated) SaveLogs(context.Context, string) error { return nil }
func (c *simulated) Close(context.Context) error            { return nil }

func (c *simulated) Writers(f *workloads.Fence, every, gap time.Duration) {
	wire := seed.New(c.seed, "resource")
	c.OnStart(func(id election.ID, p *sim.Process) {
		h := &simulatedWriter{Process: p, c: c, f: f, wire: wire}
		h.rand = seed.New(c.seed, fmt.Sprintf("writer %s life %d", p.Name(), p.Life()))
		workloads.NewWriter(h, int32(id)<<16|int32(p.Life()), every, gap).Start()
	})
}

// simulatedWriter is the process that a writer lives in, and its way to the resource.
type simulatedWriter struct {
	*sim.Process
	c    *simulated
	f    *workloads.Fence
	rand *rand.Rand
	wire *rand.Rand
}

func (w *simulatedWriter) Rand() *rand.Rand { return w.rand }

// Write sends the write on its way. What was sent arrives, whatever becomes of the sender.
func (w *simulatedWriter) Write(token uint64, value int64) {
	p := w.f.Begin(w.Name(), token, value)
	travel := func() time.Duration { return time.Duration(w.wire.Int64N(int64(2 * time.Millisecond))) }
	w.c.After(travel(), func() {
		p.Decide()
		w.c.After(travel(), p.End)
	})
}
