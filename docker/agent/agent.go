//go:build linux

package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/yamux"

	"recount/docker/agent/disk"
	"recount/history"
	"recount/internal/seed"
)

// agent is the state of the one agent process.
type agent struct {
	home    *os.File // its own network namespace
	session *yamux.Session

	parts parts // what the processes of nodes are called
	traps *traps

	counting sync.Mutex // guards what counters are read over
	mu       sync.Mutex // guards places and, in them, links, procs, held, volume, the processor and memory, log and crashes
	places   map[string]*place
	space    *disk.Space // where disks are mounted
}

// place is one node.
type place struct {
	name      string
	addrs     []netip.Addr // all nodes have as many, of the same families
	anchor    first
	space     *namespace
	filter    *filter
	counters  *counters
	links     map[inbound]history.LinkState // asked for
	procs     []first
	paused    bool // all of them were stopped, and not told to go on since
	parts     unwell
	clocks    clocks
	volume    *volume // nil if its data is on no disk that can fail
	log       string  // the file that it writes its log to
	crashes   int     // of its machine
	groups    cgroups
	processor processor
	memory    memory
}

// inbound names a link into a place, by where it comes from.
type inbound struct {
	from string
	port int
}

// Run serves the harness at the other end of in and out until in ends.
func Run(in io.Reader, out io.WriteCloser) error {
	home, err := os.Open("/proc/self/ns/net")
	if err != nil {
		return fmt.Errorf("open own network namespace: %w", err)
	}
	defer home.Close()
	session, err := yamux.Server(pipes{in, out}, Mux())
	if err != nil {
		return err
	}
	a := &agent{home: home, session: session, places: map[string]*place{}, traps: newTraps()}
	a.traps.end = a.spring
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer a.endAlone()
	go a.watchClocks(ctx)
	for {
		stream, err := session.AcceptStream()
		if errors.Is(err, io.EOF) || errors.Is(err, yamux.ErrSessionShutdown) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("accept stream: %w", err)
		}
		go a.serve(ctx, stream)
	}
}

func (a *agent) serve(ctx context.Context, stream *yamux.Stream) {
	defer stream.Close()
	var o Opening
	if err := ReadLine(stream, &o); err != nil {
		return
	}
	switch {
	case o.Control:
		a.control(ctx, stream)
	case o.Dial != nil:
		a.dial(stream, *o.Dial)
	case o.Capture != nil:
		a.capture(stream, *o.Capture)
	case o.Tail != nil:
		a.tail(stream, *o.Tail)
	}
}

// place finds a node that was entered.
func (a *agent) place(node string) (*place, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p := a.places[node]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("no node %q here", node)
}

func (a *agent) enter(e Enter) (*Capabilities, error) {
	if e.Disks {
		space, err := disk.EngineSpace()
		if err == nil {
			a.mu.Lock()
			a.space = space
			a.mu.Unlock()
			err = space.Usable()
		}
		if err != nil {
			return nil, fmt.Errorf("there can be no disks that fail: %w", err)
		}
	}
	var err error
	if a.parts, err = compileParts(e.Processes); err != nil {
		return nil, err
	}
	means := &Capabilities{}
	for _, p := range e.Places {
		s, err := openNamespace(a.home, fmt.Sprintf("/proc/%d/ns/net", p.Pid))
		if err != nil {
			return nil, fmt.Errorf("enter %s: %w", p.Node, err)
		}
		if err := a.settle(p, s, seed.New(e.Seed, "packets to "+p.Node), openFirst(p.Pid, s.inode), a.catcher(p.Node, e.Places)); err != nil {
			return nil, fmt.Errorf("enter %s: %w", p.Node, err)
		}
		if err := errors.Join(a.places[p.Node].lead(e.Gateways), a.places[p.Node].count(e.Places)); err != nil { // a run does without
			fmt.Fprintf(os.Stderr, "agent: %s: %v\n", p.Node, err)
		}
		*means = a.places[p.Node].filter.means // the same everywhere: it is one kernel
		if err := a.places[p.Node].canThrottle(); err != nil {
			means.lack(throttles, err)
		}
		if err := a.places[p.Node].canSqueeze(); err != nil {
			means.lack(squeezes, err)
		}
	}
	return means, nil
}

func (a *agent) settle(p Place, s *namespace, packets *rand.Rand, anchor first, catch func([]byte, func()) fate) error {
	f, err := openFilter(s, p.Addrs, packets, catch)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.places[p.Node] = &place{
		name: p.Node, addrs: p.Addrs, anchor: anchor, space: s, filter: f, links: map[inbound]history.LinkState{},
		groups: hostGroups(), processor: processor{asked: history.CPU{Node: p.Node}}, memory: memory{asked: history.Memory{Node: p.Node}},
	}
	return nil
}

func (a *agent) follow(f Follow) error {
	p, err := a.place(f.Node)
	if err != nil {
		return err
	}
	var procs []first
	for _, pid := range f.Pids {
		procs = append(procs, openFirst(pid, p.space.inode))
	}
	a.mu.Lock()
	p.log = f.Log
	p.procs, p.paused, p.processor.held, p.memory.held = procs, false, nil, nil // a new life begins whole,
	if p.processor.asked.Share > 0 {                                            // but for what its processor and its memory are to be
		err = p.restrain()
	}
	if p.memory.asked.Fails() {
		err = errors.Join(err, p.press())
	}
	a.traps.begins(f.Node, func() bool { return !slices.ContainsFunc(procs, func(f first) bool { return !f.alive() }) })
	a.mu.Unlock()
	go p.begin(procs, f.Clocks)
	if err != nil {
		return fmt.Errorf("throttle or squeeze %s: %w", f.Node, err)
	}
	return nil
}

// end kills all that nodes run, and unmounts their disks.
func (a *agent) end() error {
	var errs []error
	a.mu.Lock()
	for _, p := range a.places {
		errs = append(errs, p.unleash())
		for _, f := range p.procs {
			errs = append(errs, f.kill())
		}
	}
	a.mu.Unlock()
	return errors.Join(append(errs, a.detach())...)
}

// apart is how long an engine may take to have a container leave its network.
const apart = 250 * time.Millisecond

// endAlone ends a run whose harness is gone: what it started must not go on burning the machine. Anchors end one after the other: of two
// containers that leave a network at once, an engine may never hear the end (docker's leave.go).
func (a *agent) endAlone() {
	if err := a.end(); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range a.places {
		if !p.anchor.alive() {
			continue
		}
		if err := p.anchor.kill(); err != nil {
			fmt.Fprintf(os.Stderr, "agent: %s: %v\n", p.name, err)
		}
		time.Sleep(apart)
	}
}

// pipes is the connection that yamux runs over.
type pipes struct {
	io.Reader
	io.WriteCloser
}
