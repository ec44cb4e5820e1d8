package docker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"

	"recount/docker/agent"
	"recount/history"
	"recount/internal/hint"
)

// Config is what a cluster is made from.
type Config struct {
	Run       string   // names the run: letters, digits, and in between - _ .
	Nodes     []string // their names, which are also their host names
	SelfImage string   // from Engine.SelfImage
	Seed      uint64   // of what the agent leaves to chance
	Clocks    bool     // clocks are to be made ready to be skewed: a fault then stops nobody, and they can be read before it
	// Processes are patterns of the command lines of nodes' processes, by what these are called: faults can be of one alone.
	Processes map[string]string
	IPv6      bool // nodes have addresses of IPv6, too; faults of links are of both families
	Multicast bool // the network carries what nodes send to groups, or to addresses that they take for themselves
	Disks     bool // the nodes' data is to be on disks that can fail; Open fails where there can be none
	Log       func(string)
}

// Cluster is one run's containers. Its methods belong to the run's loop, but for Now, Post, Dial and what is called
// before the first Run and after the last. Close must be called, whatever happened.
type Cluster struct {
	*loop
	engine *Engine
	config Config
	labels map[string]string
	names  []string // as configured
	nodes  map[string]*node
	remote *remote
	means  agent.Capabilities // what the agent can do to packets

	ctx  context.Context // ends when the cluster closes
	end  context.CancelFunc
	work sync.WaitGroup // what goes on beside the loop
	cuts queue          // changes of links

	filling    sync.Mutex // one container at a time is made that has the shared folder
	containers sync.Mutex // guards those of nodes, also the earlier, for who asks beside the loop

	traps map[history.Key]history.Trap // that are laid
	held  []heldBack
	seen  map[string]history.View // of each node, as it was last

	onSprung func(id int, what string, did history.Changes)
	onStall  func(time.Duration)
	onExit   func(node string, code int)
	onStart  func(node string)
}

// node is one member: an anchor that holds its place in the network, and containers that come and go.
type node struct {
	name       string
	addrs      []netip.Addr // of IPv4, and of IPv6 where there is that
	anchor     string       // container
	containers []string
	earlier    [][]string                // those whose place they have taken
	onDisk     bool                      // its data is on a disk that can fail
	ails       map[history.Key]bool      // what it may end over: its disk, its memory; of whoever's turn it is in the queue of changes
	mended     atomic.Pointer[time.Time] // when it was last rid of something of these; nil for never
	trapped    atomic.Bool               // a trap has ended its life, which the engine has yet to notice
	stopped    atomic.Bool               // its processes stand still by a signal, which does not keep others from being started beside them
	logs       func(line string)
	logFile    string                 // that its program writes its log to; "" for none
	wroteTo    []string               // those of the programs before it, as earlier has them
	read       atomic.Int64           // bytes of these
	unreadable atomic.Pointer[string] // why one of these cannot be read
	changes    queue                  // of its processes and its disk
	clocks     queue                  // changes of its clocks
	life       *life                  // the latest, nil before Launch; of whoever's turn it is in the queue
}

// grace is how long engine calls under way may go on once nobody wants their outcome any more.
const grace = 10 * time.Second

var validName = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9_.-]*[a-zA-Z0-9])?$`)

// Open makes the network, the anchors and the agent of a run. Every node has its address then, and links can be cut, but
// no node runs yet. A failed Open leaves nothing behind.
func (e *Engine) Open(ctx context.Context, config Config) (*Cluster, error) {
	for _, name := range append([]string{config.Run}, config.Nodes...) {
		if !validName.MatchString(name) {
			return nil, fmt.Errorf("open the cluster of containers: %q cannot name a container", name)
		}
	}
	c := &Cluster{
		loop: newLoop(), engine: e, config: config, names: config.Nodes, nodes: map[string]*node{},
		labels: map[string]string{labelRun: config.Run, labelOwner: ownLabel()},
		traps:  map[history.Key]history.Trap{}, seen: map[string]history.View{}, onSprung: func(int, string, history.Changes) {},
		onStall: func(time.Duration) {}, onExit: func(string, int) {}, onStart: func(string) {},
	}
	if c.config.Log == nil {
		c.config.Log = func(string) {}
	}
	for _, name := range config.Nodes {
		if c.nodes[name] != nil {
			return nil, fmt.Errorf("open the cluster of containers: two nodes named %q", name)
		}
		c.nodes[name] = &node{name: name, ails: map[history.Key]bool{}}
	}
	c.ctx, c.end = context.WithCancel(context.WithoutCancel(ctx))
	during, cancel := e.outlast(ctx)
	defer cancel()

	// The agent's container comes first and alone: its name is the run's, and whoever has it owns all of that run.
	agentID, err := c.create(during, c.name("agent"), roleAgent, "", c.agentConfig())
	if err != nil && (cerrdefs.IsConflict(err) || strings.Contains(err.Error(), "already in use")) { // as Podman says it
		return nil, hint.Add(fmt.Errorf("open the cluster of containers: there is a run %s already", config.Run), "recount clean removes what killed runs left")
	}
	if err != nil {
		return nil, fmt.Errorf("open the cluster of containers: %w", withoutFUSE(hung(during, err)))
	}
	if err := c.open(ctx, during, agentID); err != nil {
		return nil, errors.Join(fmt.Errorf("open the cluster of containers: %w", hung(during, err)), c.Close(ctx))
	}
	return c, nil
}

// open does all that Open has left to do, within during, and begins nothing more once ctx has ended.
func (c *Cluster) open(ctx, during context.Context, agentID string) error {
	began := time.Now()
	steps := []func() error{
		func() error { return c.startAgent(during, agentID) },
		func() error {
			if err := c.engine.createNetwork(during, c.name(""), c.config, c.labels); err != nil {
				return err
			}
			return each(c.names, func(_ int, name string) error { return c.createAnchor(during, c.nodes[name]) }) // for which Podman wants the network
		},
	}
	if err := each(steps, func(_ int, step func() error) error { return step() }); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	gateways, err := c.engine.gateways(during, c.name(""))
	if err != nil {
		return err
	}
	places := make([]agent.Place, len(c.names))
	// One after the other, so that their addresses are in their order; and Docker 20.10 counts wrong what joins a network at once, so
	// that it can, once in a hundred networks, not remove it ever.
	for i, name := range c.names {
		var err error
		if places[i], err = c.startAnchor(during, c.nodes[name]); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	answer, err := c.remote.ask(during, agent.Request{Enter: &agent.Enter{
		Places: places, Gateways: gateways, Seed: c.config.Seed, Disks: c.config.Disks, Processes: c.config.Processes,
	}})
	if err != nil {
		return fmt.Errorf("show the agent its nodes: %w", err)
	}
	c.means = *answer.Entered
	if err := c.connected(during); err != nil {
		return err
	}
	c.work.Go(c.watchAgent)
	c.config.Log(fmt.Sprintf("network and agent up; nodes to come: %d (%v)", len(c.names), time.Since(began).Round(time.Millisecond)))
	return nil
}

// name is a container's, volume's or network's in the engine.
func (c *Cluster) name(of string) string {
	if of == "" {
		return "recount-" + c.config.Run
	}
	return "recount-" + c.config.Run + "-" + of
}

type containerConfig struct {
	container container.Config
	host      container.HostConfig
	network   *network.NetworkingConfig
}

func (c *Cluster) create(ctx context.Context, name, role, node string, config containerConfig) (id string, err error) {
	labels := maps.Clone(c.labels)
	labels[labelRole] = role
	if node != "" {
		labels[labelNode] = node
	}
	config.container.Labels = labels
	made, err := c.engine.api.ContainerCreate(ctx, &config.container, &config.host, config.network, nil, name)
	if err != nil {
		return "", fmt.Errorf("create container %s: %w", name, err)
	}
	return made.ID, nil
}

// Addr returns a node's address in the run's network. It stays the same for the whole run.
func (c *Cluster) Addr(node string) netip.Addr { return c.nodes[node].addrs[0] }

// OnStall calls f on the loop when the machine stood still for d, until now.
func (c *Cluster) OnStall(f func(d time.Duration)) { c.onStall = f }

// OnExit calls f on the loop when a node's process has ended by itself, after the last line of its log.
func (c *Cluster) OnExit(f func(node string, code int)) { c.onExit = f }

// OnStart calls f on the loop when a node's process was started, each time. It must be called before Launch.
func (c *Cluster) OnStart(f func(node string)) { c.onStart = f }

// Dial opens a connection to a port of the node, from within the node's own network: no fault is in its way. A port
// where nobody listens gives an error that is syscall.ECONNREFUSED. It may be called from any goroutine.
func (c *Cluster) Dial(ctx context.Context, node string, port int) (net.Conn, error) {
	conn, err := c.remote.dial(ctx, agent.Port{Node: node, Port: port})
	if err != nil {
		return nil, fmt.Errorf("dial %s:%d: %w", node, port, err)
	}
	return conn, nil
}

// Listen accepts connections to a port of the node's loopback address, from within the node's own network, and gives
// each to serve on a goroutine of its own. It goes on while the node is down. Listen waits for the agent, until ctx ends.
func (c *Cluster) Listen(ctx context.Context, node string, port int, serve func(net.Conn)) error {
	p := agent.Port{Node: node, Port: port}
	c.remote.handle(p, func(conn net.Conn) { c.Guarded(func() { serve(conn) }) })
	if _, err := c.remote.ask(ctx, agent.Request{Listen: &p}); err != nil {
		return fmt.Errorf("listen on %s:%d: %w", node, port, err)
	}
	return nil
}

// Close removes everything the run has made in the engine. It does so even when ctx has ended already.
func (c *Cluster) Close(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	c.end()
	detached := c.endNodes(ctx) || !c.config.Disks
	if c.remote != nil {
		c.part(ctx) // without which the agent ends the anchors itself, and slowly
		c.remote.close()
	}
	c.work.Wait()
	if _, err := c.engine.sweep(ctx, c.config.Run, detached); err != nil {
		return fmt.Errorf("close the cluster of containers: %w", err)
	}
	return nil
}

// endWithin bounds how long the agent may take to end nodes, which takes it milliseconds.
const endWithin = 10 * time.Second

// endNodes has the agent kill all that nodes run and unmount their disks, and reports whether it did.
func (c *Cluster) endNodes(ctx context.Context) bool {
	if c.remote == nil || c.remote.control == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, endWithin)
	defer cancel()
	_, err := c.remote.ask(ctx, agent.Request{End: true})
	return err == nil
}
