// Package virtual is a cluster of real servers, unmodified, in virtual time. Each server is a process of the operating
// system whose Go standard library asks the cluster for the time, for what arrives from the network, and for chance. The
// cluster lets them go on in turn, one instant after the other. The same seed gives the same run, byte for byte, and a
// minute takes as long as the computing in it.
//
// What the servers do between two instants is up to package process, what their kernels' TCP does to package tcp, and
// what links do to packets to package links, as in the simulator.
package virtual

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"recount/history"
	"recount/internal/seed"
	"recount/sim/clock"
	"recount/sim/links"
	"recount/virtual/cover"
	"recount/virtual/wire"
)

// Epoch is what nodes' wall clocks read when a run begins, but for what they are apart.
var Epoch = clock.Epoch

// Config says what a cluster is made from.
type Config struct {
	Nodes []string // their names, which are also their host names
	Seed  uint64
	Disks bool   // disks fail, or machines crash: what was not synced is kept apart
	Dir   string // under which the nodes' files are while the run lasts; "" for the machine's fastest
	// Schedule says which of the goroutines that can run goes next: by default the one that became ready first.
	Schedule Schedule
	// LatencyMin and LatencyMax bound how long a packet travels over a healthy link; the default is 0.2 to 0.4 ms.
	LatencyMin, LatencyMax time.Duration
	Trace                  *Trace            // takes down what the processes do; nil for nothing
	Stop                   *Stop             // end the run there, as Stopped; nil for nowhere
	Look                   *Look             // is called on the way; nil for nobody
	Ran                    *cover.Profile    // counts what processes run that were built with -cover, until they are ended; nil for nothing
	Tell                   func(line string) // is told, in words, of what takes long; nil for nobody
}

// Schedule is a policy of scheduling goroutines.
type Schedule struct {
	Policy  uint32 // wire.FIFO, wire.Random, wire.Priorities
	Preempt uint32 // one wake-up in so many preempts who woke; 0 for none
}

// What a healthy machine takes for things.
const (
	loopback = 20 * time.Microsecond // a packet to itself
	syncTime = time.Millisecond      // a sync
)

// Cluster is a cluster and its loop. Its methods belong to the loop, but for Dial. Close must be called, whatever
// happened.
type Cluster struct {
	loop
	config  Config
	folder  *os.File // of the nodes' files, locked
	nodes   []*node
	procs   []*proc // all that run, in the order of their nodes
	links   *links.Links
	network *rand.Rand
	start   *rand.Rand
	clients *clients
	hash    uint64
	steps   uint64
	lost    error // why the run cannot go on
	closed  bool
	watch   watch

	onRefused func(node, what string)
	onExit    func(node string, code int)
	onStart   []func(l *Life)
	onPacket  func(Packet) func(Fate) // nil for nobody
	traps     []*trap
	sprung    func(id int, what string, did history.Changes)
}

// Open makes a cluster of machines on which nothing runs yet.
func Open(config Config) (*Cluster, error) {
	if config.LatencyMax == 0 {
		config.LatencyMin, config.LatencyMax = 200*time.Microsecond, 400*time.Microsecond
	}
	folder, err := folder(scratch(config.Dir))
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		config: config, folder: folder, watch: newWatch(), start: seed.New(config.Seed, "clients"),
		onExit: func(string, int) {}, onRefused: func(string, string) {}, sprung: func(int, string, history.Changes) {},
		network: seed.New(config.Seed, "network"),
	}
	c.links = links.New(links.Config{Nodes: config.Nodes, LatencyMin: config.LatencyMin, LatencyMax: config.LatencyMax, Rand: c.network})
	boot, apart, secrets := seed.New(config.Seed, "boot"), seed.New(config.Seed, "apart"), seed.New(config.Seed, "secrets")
	for i, name := range config.Nodes {
		// Machines were switched on at different times: monotonic clocks of two nodes say nothing to each other.
		up := time.Duration(boot.Int64N(int64(time.Hour))) + time.Second
		// Wall clocks never agree to the nanosecond, and programs that seed their randomness with the time rely on that: started at
		// one instant they would all choose the same election timeouts for ever.
		by := time.Duration(apart.Int64N(int64(time.Millisecond)))
		c.nodes = append(c.nodes, newNode(c, i, name, up, by, secrets.Uint64(), filepath.Join(folder.Name(), name)))
	}
	c.clients = newClients(c)
	if l := config.Look; l != nil {
		c.After(l.At, func() {
			if err := l.Do(c); err != nil {
				c.lose(err)
			}
		})
	}
	return c, nil
}

// scratch is where files are to lie: in memory if there is a place for that.
func scratch(dir string) string {
	if dir != "" {
		return dir
	}
	if s, err := os.Stat("/dev/shm"); err == nil && s.IsDir() {
		return "/dev/shm"
	}
	return os.TempDir()
}

// Addr returns a node's address. It stays the same for the whole run.
func (c *Cluster) Addr(node string) netip.Addr { return c.named(node).addr }

// Listening returns the ports of TCP on which a node waits for connections, in their order, and those of them on which no other node
// reaches it.
func (c *Cluster) Listening(node string) (ports, alone []int) { return c.named(node).tcp.Listening() }

// named returns the node of that name, or nil.
func (c *Cluster) named(name string) *node {
	for _, n := range c.nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}

// at returns the node that has an address, or nil.
func (c *Cluster) at(addr netip.Addr) *node {
	if b := addr.As4(); b[0] == 10 && b[1] == 9 && b[2] == 0 && b[3] >= 1 && int(b[3]) <= len(c.nodes) {
		return c.nodes[b[3]-1]
	}
	return nil
}

// OnExit calls f when a node's process has ended by itself, after the last line of its log.
func (c *Cluster) OnExit(f func(node string, code int)) { c.onExit = f }

// OnRefused calls f when a node asks for what it cannot have in virtual time, and gets an error: "to start /bin/true".
func (c *Cluster) OnRefused(f func(node, what string)) { c.onRefused = f }

// OnStall calls nobody: virtual time does not stall.
func (c *Cluster) OnStall(func(time.Duration)) {}

// Hash is that of all that the nodes' schedulers did and all that the nodes sent; runs that are alike have the same.
func (c *Cluster) Hash() uint64 { return c.hash }

// Run lets all happen that happens until then. It fails if ctx ends first, or a node does not come to rest.
func (c *Cluster) Run(ctx context.Context, until time.Duration) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for c.lost == nil {
		if c.steps++; c.steps%256 == 0 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			c.look()
		}
		at := c.next()
		if acted := c.clients.advance(min(at, until)); acted {
			continue
		}
		if at > until {
			c.now = max(c.now, until)
			return nil
		}
		c.now = at
		c.instant()
	}
	return c.lost
}

// next is when something happens next.
func (c *Cluster) next() time.Duration {
	next, some := c.due.Next()
	if !some {
		next = forever
	}
	for _, p := range c.procs {
		next = min(next, p.wants())
	}
	for _, n := range c.nodes {
		if n.present != nil {
			next = min(next, n.present.wants())
		}
	}
	return max(next, c.now)
}

const forever = time.Duration(1<<63 - 1)

// instant lets happen what happens now: events, then nodes, then what lives in them, then clients.
func (c *Cluster) instant() {
	for f, some := c.due.Take(c.now); some; f, some = c.due.Take(c.now) {
		f()
	}
	for i := 0; i < len(c.procs) && c.lost == nil; i++ {
		if p := c.procs[i]; p.wants() <= c.now {
			p.run()
		}
	}
	for _, n := range c.nodes {
		if n.present != nil {
			n.present.run()
		}
	}
	if len(c.clients.stimuli) > 0 {
		c.clients.stir()
	}
}

// note takes something into the hash of the run.
func (c *Cluster) note(v uint64) {
	h := (c.hash ^ v) * 0x9e3779b97f4a7c15
	c.hash = h ^ h>>29
}

// noteBytes takes bytes into the hash of the run.
func (c *Cluster) noteBytes(b []byte) {
	h := uint64(len(b)) + 0xcbf29ce484222325
	for len(b) >= 8 {
		h = (h ^ wire.Get64(b)) * 0x9e3779b97f4a7c15
		h ^= h >> 32
		b = b[8:]
	}
	for _, x := range b {
		h = (h ^ uint64(x)) * 0x100000001b3
	}
	c.note(h)
}

// Close ends all processes and removes their files. It may be called more than once.
func (c *Cluster) Close(context.Context) error {
	if c.closed {
		return nil
	}
	c.closed = true
	c.clients.close()
	var errs []error
	for _, n := range c.nodes {
		for _, p := range n.procs {
			errs = append(errs, p.end())
		}
		if n.file != nil {
			n.file.Close()
		}
	}
	return errors.Join(append(errs, os.RemoveAll(c.folder.Name()), c.folder.Close())...)
}

// State returns the true state of everything that Apply can change and that is not healthy.
func (c *Cluster) State(context.Context) (history.Changes, error) {
	s := history.Changes{Links: c.links.All()}
	for _, t := range c.traps {
		s.Add(t.Trap)
	}
	for _, n := range c.nodes {
		if n.cpu.Share > 0 {
			s.Add(n.cpu)
		}
		if n.state != history.Up {
			s.Procs = append(s.Procs, history.Proc{Node: n.name, State: n.state})
		}
		if n.disk != (history.DiskState{}) {
			s.Disks = append(s.Disks, history.Disk{Node: n.name, DiskState: n.disk})
		}
		if k := n.clock; k.Offset != 0 || k.Drift != 0 {
			s.Clocks = append(s.Clocks, history.Clock{Node: n.name, Offset: k.Offset, Drift: k.Drift})
		}
	}
	return s, nil
}
