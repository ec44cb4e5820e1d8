package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recount/election"
	"recount/harness/record"
	"recount/history"
	"recount/internal/hint"
	"recount/targets"
	"recount/virtual"
	"recount/virtual/wire"
)

// virtualized is a cluster of a real system's servers in virtual time. Their drivers are those that ask containers.
type virtualized struct {
	*virtual.Cluster
	driven
	refused refused
	paths   map[string]string // of the programs that nodes run, by their names
	asked   map[string]*systemNode
	beside  map[string]election.Observer // what writers ask the servers with that they live beside
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
	c := &virtualized{driven: driven{s: s}, asked: map[string]*systemNode{}, beside: map[string]election.Observer{}}
	if c.system, err = s.target.System(s.options); err != nil {
		return nil, Usage(err)
	}
	if c.paths, err = s.images(c.system, func(i election.Image) (string, error) {
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
		Nodes: s.names, Seed: s.Seed, Disks: s.failsDisks(), Schedule: order, Trace: r.trace, Stop: r.stop, Tell: r.Progress,
	})
	if err != nil {
		return nil, err
	}
	c.OnRefused(func(node, what string) { c.refused.add(node, what, r.note) })
	c.members, c.reach, c.save = s.members(c.Addr), c.Dial, c.SaveLogs
	return c, nil
}

func (c *virtualized) OnGranted(func(node string, v history.Vote))   {}
func (c *virtualized) OnApplied(func(node string, u history.Update)) {}
func (c *virtualized) SaveLogs(_ context.Context, dir string) error  { return c.Cluster.SaveLogs(dir) }

// Command has a node carry out a command: what its driver can ask for.
func (c *virtualized) Command(name string, cmd election.Command, done func(value uint64, err error)) {
	c.Do(name, func() func() {
		if answer := command(context.Background(), c.system, c.members, c.member(name), cmd, c.dial(name)); answer != nil {
			return func() { answer(done) }
		}
		return nil
	})
}

// Renew implements renewed: the driver knows how a member is started that was added.
func (c *virtualized) Renew(name string, _ uint64, done func(error)) {
	var programs []virtual.Program
	c.Inside(func() { programs = c.programs(c.member(name)) })
	done(c.Relaunch(name, programs))
}

// Sees implements renewed.
func (c *virtualized) Sees(name string, who election.ID, done func(election.Membership, error)) {
	c.Do(name, func() func() {
		as, err := seen(context.Background(), c.system, c.members, c.member(name), who, c.dial(name))
		return func() { done(as, err) }
	})
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
				c.beside[name] = c.system.Observer(self, c.members, c.dial(name))
			}
		}
	})
	told := newToldWrites(c.fence, c.After, c.s.bounds)
	for i, name := range c.s.names {
		if read := readLog(c.system, c.members[i].ID, func(v history.View) { c.announce(name, v) }, told.of(name)); read != nil {
			c.Logs(name, read)
		}
	}
	if err := found(ctx, c, c.system, c.members); err != nil {
		return err
	}
	return c.await(ctx)
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
		return virtual.Program{Path: path, Args: args, Env: k.Env, Data: k.Data, Dir: k.Dir, Files: k.Files}
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
	c.Do(name, func() func() {
		ctx, cancel := context.WithTimeout(context.Background(), answerWithin)
		defer cancel()
		v, err := c.asked[name].View(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			return nil // the observer has given up: a paused node answers nothing
		}
		return func() { done(v, err) }
	})
}

// await lets time go on until every server of the system has come up, and made a cluster, if the system can tell.
func (c *virtualized) await(ctx context.Context) error {
	return c.awaitSome(ctx, c.members, c.bootstraps())
}

// ready implements founded.
func (c *virtualized) ready(ctx context.Context, some []election.Member) error {
	return c.awaitSome(ctx, some, false)
}

// awaitSome is await of some of the servers. Where they are to be bootstrapped they are asked once they are a cluster.
func (c *virtualized) awaitSome(ctx context.Context, some []election.Member, bootstrap bool) error {
	system, ok := c.system.(election.Readier)
	if !ok {
		return nil
	}
	wants := map[string]error{} // of those that are not ready
	began, enough := c.Now(), false
	defer func() { enough = true }()
	until := func(name, at string, within time.Duration, try func(context.Context) error, then func()) {
		var again func()
		again = func() {
			c.Do(at, func() func() {
				trying, cancel := context.WithTimeout(context.Background(), within)
				defer cancel()
				err := try(trying)
				return func() {
					switch wants[name] = err; {
					case err == nil:
						delete(wants, name)
						then()
					case !enough:
						c.After(50*time.Millisecond, again)
					}
				}
			})
		}
		again()
	}
	ask := func() {
		for _, m := range some {
			until(m.Name, m.Name, trialPatience, func(ctx context.Context) error { return system.Ready(ctx, m, c.members, c.dial(m.Name)) }, func() {})
		}
	}
	for _, m := range some {
		wants[m.Name] = fmt.Errorf("%s was not asked yet", m.Name)
	}
	if bootstrap {
		wants[theCluster] = errUnfounded
		until(theCluster, some[0].Name, system.Patience(), c.bootstrap, ask)
	} else {
		ask()
	}
	for c.Now() < began+system.Patience() {
		if err := c.Run(ctx, c.Now()+step); err != nil {
			return err
		}
		if err := c.endedEarly(ctx); err != nil {
			return err
		}
		if len(wants) == 0 {
			return nil
		}
	}
	name, listens := latest(wants), ""
	if name != theCluster {
		listens = listensOn(c.Listening(name))
	}
	return late(name, system.Patience(), wants[name], listens)
}

// OnExit calls f when a node's process has ended by itself.
func (c *virtualized) OnExit(f func(node string, code int)) {
	c.Cluster.OnExit(c.noting(f, c.refused.words))
}

// Close ends all connections and removes the nodes.
func (c *virtualized) Close(ctx context.Context) error {
	var errs []error
	if len(c.asked)+len(c.beside) > 0 { // they live among the clients, who end with the cluster
		c.Inside(func() {
			for _, name := range sortedKeys(c.asked) {
				errs = append(errs, c.asked[name].Close())
			}
			for _, name := range sortedKeys(c.beside) {
				errs = append(errs, c.beside[name].Close())
			}
		})
		clear(c.asked)
		clear(c.beside)
	}
	return errors.Join(append(errs, c.Cluster.Close(ctx))...)
}
