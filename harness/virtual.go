package harness

import (
	"context"
	"errors"
	"fmt"

	"recount/election"
	"recount/harness/record"
	"recount/history"
	"recount/internal/hint"
	"recount/targets"
	"recount/virtual"
	"recount/virtual/cover"
	"recount/virtual/wire"
)

// virtualized is a cluster of a real system's servers in virtual time. Their drivers are those that ask containers.
type virtualized struct {
	*virtual.Cluster
	driven
	refused refused
	paths   map[string]string // of the programs that nodes run, by their names
	asked   map[string]*systemNode
	writing map[string]election.Observer // what writers ask the servers with that they live beside
}

// schedule is what an order of goroutines comes down to.
func schedule(order string) (virtual.Schedule, error) {
	switch order {
	case "", record.FIFO:
		return virtual.Schedule{Policy: wire.FIFO}, nil
	case record.Random:
		return virtual.Schedule{Policy: wire.Random, Preempt: 10}, nil
	case record.PCT:
		return virtual.Schedule{Policy: wire.Priorities, Preempt: 20}, nil
	}
	return virtual.Schedule{}, hint.Unknown("order of goroutines", order, record.Orders)
}

func openVirtual(ctx context.Context, r *run) (_ *virtualized, err error) {
	s := r.subject
	c := &virtualized{driven: driven{s: s}, asked: map[string]*systemNode{}, writing: map[string]election.Observer{}}
	if c.system, err = s.target.System(s.options); err != nil {
		return nil, Usage(err)
	}
	if c.paths, err = s.images(c.system, func(i election.Image) (string, error) {
		if i.Cover != "" && r.ran == nil {
			r.ran = cover.NewProfile()
		}
		return virtualProgram(ctx, i, r.building)
	}); err != nil {
		return nil, err
	}
	if targets.IsFile(s.Target) {
		if c.built, err = hashed(c.paths); err != nil {
			return nil, err
		}
	}
	order, err := schedule(s.Goroutines)
	if err != nil {
		return nil, err
	}
	c.Cluster, err = virtual.Open(virtual.Config{
		Nodes: s.names, Seed: s.Seed, Disks: s.failsDisks(), Schedule: order, Trace: r.trace, Stop: r.stop, Look: r.moment, Ran: r.ran, Tell: r.Progress,
	})
	if err != nil {
		return nil, err
	}
	c.OnRefused(func(node, what string) { c.refused.add(node, what, r.note) })
	c.members, c.reach, c.save, c.unlogged = s.members(c.Addr), c.Dial, c.SaveLogs, c.Unlogged
	c.beside = func(node string, f func(context.Context) func()) {
		c.Do(node, func() func() { return f(context.Background()) })
	}
	return c, nil
}

func (c *virtualized) OnGranted(func(node string, v history.Vote))   {}
func (c *virtualized) OnApplied(func(node string, u history.Update)) {}
func (c *virtualized) SaveLogs(_ context.Context, dir string) error  { return c.Cluster.SaveLogs(dir) }

// Renew implements renewed: the driver knows how a member is started that was added.
func (c *virtualized) Renew(name string, _ uint64, done func(error)) {
	var programs []virtual.Program
	c.Inside(func() { programs = c.programs(c.member(name)) })
	done(c.Relaunch(name, programs))
}

// Start starts all nodes, and begins to listen to them.
func (c *virtualized) Start(ctx context.Context) error {
	c.unread.of(c.system)
	if e, ok := c.system.(election.Executor); ok {
		e.Use(func(_ context.Context, m election.Member, command []string) ([]byte, error) {
			return nil, fmt.Errorf("%s: no command runs in virtual time", m.Name)
		})
	}
	c.Inside(func() {
		for i, name := range c.s.names {
			self := c.members[i]
			c.asked[name] = &systemNode{c.system.Observer(self, c.members, c.dial(name)), self.Server}
			if !self.Server {
				c.writing[name] = c.system.Observer(self, c.members, c.dial(name))
			}
		}
	})
	begun := c.starts(c)
	c.OnStart(func(l *virtual.Life) { begun(l.Node()) })
	told := newToldWrites(c.fence, c.After, c.s.bounds)
	for i, name := range c.s.names {
		if read := readLog(c.system, c.members[i].ID, func(v history.View) { c.announce(name, v) }, told.of(name), c.heard(c.members[i])); read != nil {
			c.Logs(name, read)
		}
	}
	if err := found(ctx, c, c.system, c.members); err != nil {
		return err
	}
	return c.awaitSome(ctx, c, c.members, c.bootstraps())
}

func (c *virtualized) launch(_ context.Context, some []election.Member) error {
	run := map[string][]virtual.Program{}
	c.Inside(func() {
		for _, m := range some {
			run[m.Name] = c.programs(m)
		}
	})
	return c.Launch(run)
}

// programs are what a member runs: its server, and what lives beside it.
func (c *virtualized) programs(self election.Member) []virtual.Program {
	path, image := c.paths[self.Name], imageOf(c.system, self)
	program := func(k election.Container) virtual.Program {
		args := k.Command
		if image.Recipe != "" { // whose commands begin with the program
			args = args[1:]
		}
		return virtual.Program{Path: path, Args: args, Env: k.Env, Data: k.Data, Log: k.Log, Dir: k.Dir, Files: k.Files}
	}
	what := c.system.Container(self, c.members)
	all := []virtual.Program{program(what)}
	for _, b := range what.Beside {
		all = append(all, program(b))
	}
	return all
}

// Observe asks a node among the clients and brings the answer to the loop.
func (c *virtualized) Observe(name string, done func(history.View, error)) {
	c.beside(name, func(ctx context.Context) func() {
		ctx, cancel := context.WithTimeout(ctx, answerWithin)
		defer cancel()
		v, err := c.asked[name].View(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			return nil // the observer has given up: a paused node answers nothing
		}
		return func() { done(v, err) }
	})
}

// ready implements founded.
func (c *virtualized) ready(ctx context.Context, some []election.Member) error {
	return c.awaitSome(ctx, c, some, false)
}

// waits implements founded: in virtual time nobody waits for long.
func (c *virtualized) waits(string) {}

// OnExit calls f when a node's process has ended by itself.
func (c *virtualized) OnExit(f func(node string, code int)) {
	c.Cluster.OnExit(c.noting(f, c.refused.words))
}

// Close ends all connections and removes the nodes.
func (c *virtualized) Close(ctx context.Context) error {
	var errs []error
	if len(c.asked)+len(c.writing) > 0 { // they live among the clients, who end with the cluster
		c.Inside(func() {
			for _, name := range sortedKeys(c.asked) {
				errs = append(errs, c.asked[name].Close())
			}
			for _, name := range sortedKeys(c.writing) {
				errs = append(errs, c.writing[name].Close())
			}
		})
		clear(c.asked)
		clear(c.writing)
	}
	return errors.Join(append(errs, c.Cluster.Close(ctx))...)
}
