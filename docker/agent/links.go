//go:build linux

package agent

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"

	"github.com/google/nftables"

	"recount/history"
)

// A filter is what Recount does to the packets that arrive at one node: nftables tables of its own in the node's network
// namespace, one for each family of addresses that the node has. Only these are ever touched: the engine keeps its name
// service in another.
//
// A link is mistreated at its receiving end. A packet dropped at its sender would be an error to a UDP sender, which no
// network gives.
type filter struct {
	conn     *nftables.Conn
	space    *namespace
	families []*family
	powers   []power
	held     []states    // what the kernel was last told, power by power
	staged   []states    // what it is about to be told; nil for nothing new
	delays   *delayQueue // one of the powers; nil where the kernel lacks it
	means    Capabilities
}

// source is where packets come from: an address. With a port it is those packets alone that have it at either end.
type source struct {
	addr netip.Addr
	port uint16
}

// states are what packets suffer, by where they come from. Whoever is not named is treated well.
type states map[source]history.LinkState

// A power imposes one part of history.LinkState. Each is a file of its own, listed in openFilter.
type power interface {
	// part is what of a state this power imposes, as exactly as it can.
	part(s history.LinkState) history.LinkState
	// install queues what the power needs in f's tables, once, before all else.
	install(f *filter) error
	// stage queues the change to these states, of which it is given its own part. Nothing happens before f.conn.Flush,
	// and then all of it at once.
	stage(f *filter, s states) error
	// read tells what the kernel says that packets suffer now.
	read(f *filter) (states, error)
}

func openFilter(s *namespace, own []netip.Addr, packets *rand.Rand, catch func(head []byte, pass func()) fate) (*filter, error) {
	conn, err := nftables.New(nftables.WithNetNSFd(int(s.file.Fd())), nftables.AsLasting())
	if err != nil {
		return nil, fmt.Errorf("open netlink: %w", err)
	}
	f := &filter{conn: conn, space: s, means: Capabilities{Missing: map[string]string{}}}
	for _, addr := range own {
		f.families = append(f.families, newFamily(conn, addr))
	}
	if err := f.install(&cut{}); err != nil {
		conn.CloseLasting()
		return nil, fmt.Errorf("install nftables table: %w", err)
	}
	// What else there is depends on the kernel. Each comes in a transaction of its own, so that one may fail.
	line := &delayQueue{rand: packets, catch: catch}
	for _, also := range []struct {
		what string
		power
	}{{loses, &loss{}}, {resets, &reset{}}, {duplicates, &duplicate{}}, {delays, line}} {
		if err := f.install(also.power); err != nil {
			f.means.Missing[also.what] = err.Error()
			continue
		}
		if also.power == line {
			f.delays, f.means.Delay = line, line.kind
		}
	}
	return f, nil
}

func (f *filter) install(p power) error {
	if err := p.install(f); err != nil {
		return err
	}
	if err := f.conn.Flush(); err != nil {
		return err
	}
	f.powers = append(f.powers, p)
	f.held = append(f.held, states{})
	f.staged = append(f.staged, nil)
	return nil
}

// stage queues what has to change to come to these states. What stays is not touched: to change the set of who is cut
// off takes the kernel microseconds, others are slower.
func (f *filter) stage(s states) error {
	if f.delays != nil {
		f.delays.pace.close(s)
	}
	for i, p := range f.powers {
		part := partOf(p, s)
		if f.staged[i] = nil; maps.Equal(part, f.held[i]) {
			continue
		}
		f.staged[i] = part
		if err := p.stage(f, part); err != nil {
			return err
		}
	}
	return nil
}

// flush lets what was staged happen.
func (f *filter) flush() error {
	err := f.conn.Flush()
	for i, s := range f.staged {
		if s == nil {
			continue
		}
		if err != nil {
			s = states{{}: {}} // nobody knows: tell it again next time
		}
		if _, resets := f.powers[i].(*reset); resets && f.delays != nil {
			for src := range s {
				if _, already := f.held[i][src]; !already {
					f.delays.lose(src) // what is in flight belongs to a connection that is no more
				}
			}
		}
		f.held[i], f.staged[i] = s, nil
	}
	return err
}

func partOf(p power, s states) states {
	parts := states{}
	for src, state := range s {
		if part := p.part(state); part != (history.LinkState{}) {
			parts[src] = part
		}
	}
	return parts
}

// exact returns what the powers together make of a state, which is what read should find.
func (f *filter) exact(s history.LinkState) (e history.LinkState) {
	for _, p := range f.powers {
		e = e.And(p.part(s))
	}
	e.Picked = false // see delayQueue.read
	return e
}

func (f *filter) read() (states, error) {
	all := states{}
	for _, p := range f.powers {
		part, err := p.read(f)
		if err != nil {
			return nil, fmt.Errorf("read back nftables: %w", err)
		}
		for src, s := range part {
			all[src] = all[src].And(s)
		}
	}
	return all, nil
}
