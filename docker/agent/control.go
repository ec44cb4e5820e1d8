//go:build linux

package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"recount/hint"
	"recount/history"
)

// control answers the requests of one control stream. What changes something is done in the order it was asked for;
// what takes its time goes on beside it.
func (a *agent) control(ctx context.Context, stream net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex
	send := func(r Reply) {
		mu.Lock()
		defer mu.Unlock()
		if err := WriteLine(stream, r); err != nil {
			fmt.Fprintln(os.Stderr, "agent: reply:", err)
		}
	}
	go watchStalls(ctx, func(d time.Duration) { send(Reply{Stall: d}) })
	lines := Lines(stream)
	for lines.Scan() {
		var r Request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			fmt.Fprintln(os.Stderr, "agent: request:", err)
			return
		}
		if r.Verify != nil || r.Gauge != nil || r.Skew != nil || r.Ask != "" || r.Clocks || r.Read {
			go func() { send(a.answer(r)) }()
			continue
		}
		send(a.answer(r))
	}
}

func (a *agent) answer(r Request) Reply {
	reply := Reply{ID: r.ID}
	var err error
	switch {
	case r.Enter != nil:
		reply.Entered, err = a.enter(*r.Enter)
	case r.Attach != nil:
		err = a.attach(*r.Attach)
	case r.Detach:
		err = a.detach()
	case r.Follow != nil:
		err = a.follow(*r.Follow)
	case r.Listen != nil:
		err = a.listen(*r.Listen)
	case r.Apply != nil:
		reply.Applied, err = a.apply(*r.Apply)
	case r.Verify != nil:
		reply.Verified, err = a.verify(*r.Verify)
	case r.Gauge != nil:
		reply.Gauged, err = a.gauge(*r.Gauge)
	case r.Skew != nil:
		reply.Skewed, err = a.skew(*r.Skew)
	case r.Ask != "":
		reply.Told, err = a.ask(r.Ask)
	case r.Clocks:
		reply.Readings = a.readings()
	case r.Read:
		reply.State, err = a.read()
	default:
		err = fmt.Errorf("request %d asks for nothing", r.ID)
	}
	if err != nil {
		reply.Error, reply.Hint = err.Error(), hint.Of(err)
	}
	return reply
}

// apply prepares everything first, so that the changes themselves follow each other closely.
func (a *agent) apply(o Apply) (*Applied, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range o.Links {
		if a.places[l.From] == nil || a.places[l.To] == nil {
			return nil, fmt.Errorf("no link %s→%s here", l.From, l.To)
		}
	}
	nodes := slices.Clone(o.Crash)
	for _, s := range o.Signals {
		nodes = append(nodes, s.Node)
	}
	for _, d := range o.Disks {
		nodes = append(nodes, d.Node)
	}
	for _, node := range nodes {
		if a.places[node] == nil {
			return nil, fmt.Errorf("no node %q here", node)
		}
	}
	var touched []*place
	seen := map[string]bool{}
	for _, l := range o.Links {
		to := a.places[l.To]
		if to.links[inbound{l.From, l.Port}] = l.LinkState; l.LinkState == (history.LinkState{}) {
			delete(to.links, inbound{l.From, l.Port})
		}
		if !seen[l.To] {
			seen[l.To] = true
			touched = append(touched, to)
		}
	}
	for _, p := range touched {
		if err := p.filter.stage(a.sources(p)); err != nil {
			return nil, fmt.Errorf("links into %s: %w", p.name, err)
		}
	}
	done := &Applied{}
	for _, node := range o.Crash {
		if v := a.places[node].volume; v != nil {
			if err := v.prepare(); err != nil {
				done.Errors = append(done.Errors, fmt.Sprintf("crash %s: %v", node, err))
			}
		}
	}
	at := map[string]time.Time{}
	for _, p := range touched {
		if err := p.filter.flush(); err != nil {
			done.Errors = append(done.Errors, fmt.Sprintf("links into %s: %v", p.name, err))
			continue
		}
		at[p.name] = time.Now()
	}
	for _, s := range o.Signals {
		if err := s.Kind.send(a.places[s.Node].procs); err != nil {
			done.Errors = append(done.Errors, fmt.Sprintf("%s %s: %v", s.Kind, s.Node, err))
			continue
		}
		at[s.Node] = time.Now()
		if v := a.places[s.Node].volume; v != nil && s.Kind == Kill {
			v.served.Hurry() // nobody dies while it waits for its disk
		}
	}
	a.changeDisks(o, done, at)
	now := time.Now()
	done.Ago = make(map[string]time.Duration, len(at))
	for node, t := range at {
		done.Ago[node] = now.Sub(t)
	}
	return done, nil
}

// sources are what packets into a place suffer, by the addresses they come from.
func (a *agent) sources(p *place) states {
	all := states{}
	for in, s := range p.links {
		for _, addr := range a.places[in.from].addrs {
			all[source{addr, uint16(in.port)}] = s
		}
	}
	return all
}

func (k Kind) send(procs []first) error {
	switch k {
	case Kill:
		for _, f := range procs {
			if err := f.kill(); err != nil {
				return err
			}
		}
		return nil
	case Term:
		for _, f := range procs {
			if err := f.signal(unix.SIGTERM); err != nil {
				return err
			}
		}
		return suspend(slices.DeleteFunc(slices.Clone(procs), func(f first) bool { return !f.alive() }), unix.SIGCONT)
	case Stop:
		return suspend(procs, unix.SIGSTOP)
	case Cont:
		return suspend(procs, unix.SIGCONT)
	}
	return fmt.Errorf("unknown signal %q", string(k))
}
