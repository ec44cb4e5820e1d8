package harness

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"recount/docker"
	"recount/docker/member"
	"recount/election"
	"recount/history"
	"recount/internal/hint"
	"recount/targets"
	"recount/workloads"
)

// answerWithin bounds how long a node in a container may take to answer; the observers give up before.
const answerWithin = 10 * time.Second

// containers is a cluster of containers: of an algorithm, which runs inside of Recount's own executable, or of a real
// system.
type containers struct {
	*docker.Cluster
	driven
	engine  *docker.Engine
	self    string            // image of this executable
	images  map[string]string // of the system's nodes, by their names
	asked   map[string]asked
	work    sync.WaitGroup  // questions under way
	lasting context.Context // until no answers are wanted any more
	close   context.CancelFunc
	told    bool  // some node has given an answer
	useless error // why no node ever can
	tell    func(line string)

	every, gap time.Duration   // of writes
	writer     election.Writer // to the target's own resource, if it has one that is written to
	granted    func(node string, v history.Vote)
	applied    func(node string, u history.Update)
}

// asked is a node that can be asked for its view.
type asked interface {
	View(ctx context.Context) (history.View, error)
	Close() error
}

func openContainers(ctx context.Context, s *subject, id string, cfg Config) (_ *containers, err error) {
	c := &containers{driven: driven{s: s}, asked: map[string]asked{}, tell: cfg.Progress}
	c.lasting, c.close = context.WithCancel(context.WithoutCancel(ctx))
	c.beside = c.aside
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	if c.engine, err = docker.Connect(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.engine.Close())
		}
	}()
	if s.target.System != nil {
		if c.system, err = s.target.System(s.options); err != nil {
			return nil, Usage(err)
		}
		if c.images, err = s.images(c.system, func(i election.Image) (string, error) {
			if !targets.IsFile(s.Target) {
				return systemImage(ctx, c.engine, i, cfg.building)
			}
			ref, what, err := identified(ctx, c.engine, i, cfg.building)
			c.built = append(c.built, what)
			return ref, err
		}); err != nil {
			return nil, err
		}
	}
	if cfg.Executable == "" {
		c.self, err = c.engine.SelfImage(ctx, cfg.building)
	} else {
		c.self, err = c.engine.ExecutableImage(ctx, cfg.Executable, cfg.building)
	}
	if err != nil {
		return nil, err
	}
	c.Cluster, err = c.engine.Open(ctx, docker.Config{
		Run: id, Nodes: s.names, SelfImage: c.self, Seed: s.Seed, Clocks: s.skews(), Disks: s.failsDisks(), Log: cfg.Progress,
		Processes: s.target.Processes, Multicast: s.target.Multicast,
	})
	if err != nil {
		return nil, err
	}
	c.members, c.reach, c.save, c.unlogged = s.members(c.Addr), c.Dial, c.SaveLogs, c.Unlogged
	return c, nil
}

func (c *containers) Writers(f *workloads.Fence, every, gap time.Duration) {
	c.fence, c.every, c.gap = f, every, gap
}

func (c *containers) OnGranted(f func(node string, v history.Vote))   { c.granted = f }
func (c *containers) OnApplied(f func(node string, u history.Update)) { c.applied = f }

// aside is driven.beside in containers.
func (c *containers) aside(_ string, f func(context.Context) func()) {
	c.work.Go(func() {
		c.Guarded(func() { // it is a driver that asks, and may be anybody's
			if then := f(c.lasting); then != nil {
				c.Post(then)
			}
		})
	})
}

// Command has a node carry out a command: of a real system, what its driver can ask for.
func (c *containers) Command(name string, cmd election.Command, done func(value uint64, err error)) {
	n, algorithm := c.asked[name].(*algorithmNode)
	if !algorithm {
		c.driven.Command(name, cmd, done)
		return
	}
	c.beside(name, func(ctx context.Context) func() {
		ctx, cancel := context.WithTimeout(ctx, answerWithin)
		defer cancel()
		value, err := n.Command(ctx, cmd)
		if refused := member.Refused(""); err != nil && !errors.As(err, &refused) {
			return nil
		}
		return func() { done(value, err) }
	})
}

// Renew implements renewed: the driver knows how a member is started that was added.
func (c *containers) Renew(name string, _ uint64, done func(error)) {
	self := c.member(name)
	c.Relaunch(name, c.ofSystem(self, c.writes(self)), done)
}

// writes tells whether a writer lives beside a member.
func (c *containers) writes(self election.Member) bool {
	listens := false // to what is written, in the place of writing
	if c.system != nil {
		_, reads := resourceOf(c.system)
		listens = reads != nil
	}
	return c.fence != nil && !self.Server && !listens
}

// Start starts all nodes, and begins to listen to them.
func (c *containers) Start(ctx context.Context) error {
	c.unread.of(c.system)
	if e, ok := c.system.(election.Executor); ok {
		e.Use(func(ctx context.Context, m election.Member, command []string) ([]byte, error) {
			return c.Exec(ctx, m.Name, command)
		})
	}
	if c.system != nil {
		c.writer, _ = resourceOf(c.system)
	}
	c.OnStart(c.starts(c))
	told := newToldWrites(c.fence, c.After, c.s.bounds)
	for i, name := range c.s.names {
		self := c.members[i]
		if c.writes(self) {
			if err := c.Listen(ctx, name, member.ResourcePort, func(conn net.Conn) { c.serve(name, conn) }); err != nil {
				return err
			}
		}
		if c.system == nil {
			c.asked[name] = c.listen(name)
			continue
		}
		c.asked[name] = &systemNode{c.system.Observer(self, c.members, c.dial(name)), self.Server}
		if read := readLog(c.system, self.ID, func(v history.View) { c.announce(name, v) }, told.of(name), c.heard(self)); read != nil {
			c.Logs(name, read)
		}
	}
	if err := found(ctx, c, c.system, c.members); err != nil {
		return err
	}
	return c.awaitSome(ctx, c, c.members, c.bootstraps())
}

// ready implements founded.
func (c *containers) ready(ctx context.Context, some []election.Member) error {
	return c.awaitSome(ctx, c, some, false)
}

// waits implements founded.
func (c *containers) waits(line string) { c.tell(line) }

func (c *containers) launch(ctx context.Context, some []election.Member) error {
	run := map[string]docker.Container{}
	for _, m := range some {
		if run[m.Name] = c.recount(m); c.system != nil {
			run[m.Name] = c.ofSystem(m, c.writes(m))
		}
	}
	return c.Launch(ctx, run)
}

// ofSystem is a container of a real system, with the writer beside it if there is to be one.
func (c *containers) ofSystem(self election.Member, writes bool) docker.Container {
	one := func(what election.Container) docker.Container {
		return docker.Container{
			Image: c.images[self.Name], Command: what.Command, Env: what.Env, Data: what.Data, Shared: what.Shared, Log: what.Log, Dir: what.Dir, Files: what.Files,
			Capabilities: what.Capabilities,
		}
	}
	what := c.system.Container(self, c.members)
	run := one(what)
	for _, b := range what.Beside {
		run.Sidecars = append(run.Sidecars, one(b))
	}
	if writes {
		run.Sidecars = append(run.Sidecars, c.recount(self))
	}
	return run
}

// recount is a container that runs Recount's own executable: an algorithm, or the writer beside a real system.
func (c *containers) recount(self election.Member) docker.Container {
	cmd := member.Command{
		Target: c.s.Target, Definition: string(c.s.target.Definition), Options: c.s.options.All(), Beside: c.system != nil,
		ID: self.ID, Data: "/data", Seed: c.s.Seed,
	}
	for _, m := range c.members {
		cmd.Members = append(cmd.Members, m.Addr)
	}
	if c.fence != nil {
		cmd.WriteEvery, cmd.WriteGap = c.every, c.gap
		if cmd.Relay = cmd.Beside && (c.writer != nil || observed(c.system) != election.OverDial); cmd.Relay {
			cmd.WriteGap = max(cmd.WriteGap, c.s.bounds.Silence/2) // commands take their time: the gap is to be most of it nevertheless
		}
	}
	if !cmd.Beside {
		cmd.Own = "/own"
	}
	return docker.Container{Image: c.self, Command: append([]string{docker.SelfPath}, cmd.Args()...), Data: cmd.Data, Own: cmd.Own}
}

// Observe asks a node on a goroutine of its own and brings the answer to the loop.
func (c *containers) Observe(name string, done func(history.View, error)) {
	c.beside(name, func(ctx context.Context) func() {
		ctx, cancel := context.WithTimeout(ctx, answerWithin)
		defer cancel()
		v, err := c.asked[name].View(ctx)
		if errors.Is(err, context.DeadlineExceeded) || c.lasting.Err() != nil {
			return nil // the observer has given up: a paused node answers nothing
		}
		return func() {
			c.told = c.told || err == nil
			if !c.told && errors.Is(err, docker.ErrNoProgram) {
				c.useless = err
			}
			done(v, err)
		}
	})
}

// Run lets the loop go on. It fails, too, when no node can be asked.
func (c *containers) Run(ctx context.Context, until time.Duration) error {
	if err := c.Cluster.Run(ctx, until); err != nil || c.useless == nil {
		return err
	}
	return hint.Add(c.useless, "nodes are asked by a command that their image must have")
}

// Close ends all connections and removes the containers. What asks nodes is closed last: where the engine stands still, its connections
// end with the line to the agent.
func (c *containers) Close(ctx context.Context) error {
	c.close()
	errs := []error{c.Cluster.Close(ctx)}
	for _, name := range sortedKeys(c.asked) {
		errs = append(errs, c.asked[name].Close())
	}
	c.work.Wait()
	return errors.Join(append(errs, c.engine.Close())...)
}
