//go:build linux

package agent

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"recount/history"
	"recount/internal/headers"
)

// counters are the kernel's own counts of what a node sends the others, and of what reaches it of theirs behind all faults.
// They are read over a connection of their own, so that no fault waits for that.
type counters struct {
	conn   *nftables.Conn
	chains []*nftables.Chain // by family: what leaves; then, by family, what arrives
	peers  []string          // whose the rules of a chain are, in their order
}

// count begins to count.
func (p *place) count(all []Place) error {
	conn, err := nftables.New(nftables.WithNetNSFd(int(p.space.file.Fd())), nftables.AsLasting())
	if err != nil {
		return fmt.Errorf("open netlink: %w", err)
	}
	k := &counters{conn: conn}
	for _, dir := range []struct {
		name string
		hook *nftables.ChainHook
		at   func(*family) uint32 // of the peer's address in the IP header
	}{
		{"left", nftables.ChainHookOutput, func(f *family) uint32 { return f.from + f.addr.Bytes }},
		{"came", nftables.ChainHookInput, func(f *family) uint32 { return f.from }},
	} {
		for i, fam := range p.filter.families {
			c := conn.AddChain(&nftables.Chain{
				Name: dir.name, Table: fam.table, Type: nftables.ChainTypeFilter,
				Hooknum: dir.hook, Priority: nftables.ChainPriorityRef(*nftables.ChainPriorityRaw + 20),
			})
			k.chains = append(k.chains, c)
			for _, o := range all {
				if o.Node == p.name {
					continue
				}
				// What the agent itself sends is no talk of nodes'.
				for _, match := range [][]expr.Any{protocol(unix.IPPROTO_TCP), append(protocol(unix.IPPROTO_UDP),
					&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: headers.DestinationPort, Len: 2},
					&expr.Cmp{Op: expr.CmpOpLt, Register: 1, Data: []byte{firstProbePort >> 8, firstProbePort & 0xff}})} {
					conn.AddRule(&nftables.Rule{Table: fam.table, Chain: c, Exprs: append(match,
						&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: dir.at(fam), Len: fam.addr.Bytes},
						&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: o.Addrs[i].AsSlice()},
						&expr.Counter{})})
					if len(k.chains) == 1 {
						k.peers = append(k.peers, o.Node)
					}
				}
			}
		}
	}
	if err := conn.Flush(); err != nil {
		return fmt.Errorf("count packets: %w", err)
	}
	p.counters = k
	return nil
}

// read returns what has left for each peer, and what has come from it.
func (k *counters) read() (left, came map[string]Count, err error) {
	left, came = map[string]Count{}, map[string]Count{}
	for i, c := range k.chains {
		to := left
		if i >= len(k.chains)/2 {
			to = came
		}
		rules, err := k.conn.GetRules(c.Table, c)
		if err != nil {
			return nil, nil, fmt.Errorf("read the counters: %w", err)
		}
		for j, r := range rules {
			for _, e := range r.Exprs {
				if n, is := e.(*expr.Counter); is && j < len(k.peers) {
					sum := to[k.peers[j]]
					to[k.peers[j]] = Count{sum.Packets + n.Packets, sum.Bytes + n.Bytes}
				}
			}
		}
	}
	return left, came, nil
}

// traffic tells what has passed between all nodes.
func (a *agent) traffic() (all []Traffic, err error) {
	a.counting.Lock()
	defer a.counting.Unlock()
	a.mu.Lock()
	places := maps.Clone(a.places)
	links := map[[2]string]history.LinkState{}
	for to, p := range places {
		for in, s := range p.links {
			links[[2]string{in.from, to}] = links[[2]string{in.from, to}].And(s)
		}
	}
	a.mu.Unlock()
	left, came := map[string]map[string]Count{}, map[string]map[string]Count{}
	for name, p := range places {
		if p.counters == nil {
			return nil, fmt.Errorf("%s: packets are not counted here", name)
		}
		if left[name], came[name], err = p.counters.read(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	for from, p := range places {
		open := p.connections()
		for to, q := range places {
			if p == q {
				continue
			}
			t := Traffic{From: from, To: to, Left: left[from][to], Came: came[to][from], Link: links[[2]string{from, to}]}
			for _, c := range open {
				if slices.Contains(q.addrs, c.with) {
					t.Connections = append(t.Connections, c.Connection)
				}
			}
			all = append(all, t)
		}
	}
	return all, nil
}

// made is a connection that a place has made to an address.
type made struct {
	with netip.Addr
	Connection
}

// The states of connections in the kernel's table.
const (
	isMade   = "01"
	isListen = "0A"
)

// connections are those of a place that it has made itself, and that are open. One from a port that somebody listens on was
// made by the other side.
func (p *place) connections() (all []made) {
	listens := map[uint16]bool{}
	for _, table := range []string{"tcp", "tcp6"} {
		var f *os.File
		if err := p.space.do(func() (err error) { f, err = os.Open("/proc/thread-self/net/" + table); return err }); err != nil {
			continue // there is no IPv6, or the run is about to end
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			words := strings.Fields(lines.Text())
			if len(words) < 4 {
				continue
			}
			local, ok := socket(words[1])
			remote, also := socket(words[2])
			switch {
			case !ok || !also: // the heading
			case words[3] == isListen:
				listens[local.Port()] = true
			case words[3] == isMade:
				all = append(all, made{remote.Addr(), Connection{Local: local.Port(), Port: remote.Port()}})
			}
		}
		f.Close()
	}
	return slices.DeleteFunc(all, func(m made) bool { return listens[m.Local] })
}

// socket reads an end of a connection as the kernel prints it: words of four bytes in the machine's order, in hex, and the port.
func socket(text string) (netip.AddrPort, bool) {
	addr, number, _ := strings.Cut(text, ":")
	b, err := hex.DecodeString(addr)
	port, failed := strconv.ParseUint(number, 16, 16)
	if err != nil || failed != nil || len(b)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(b); i += 4 {
		slices.Reverse(b[i : i+4])
	}
	ip, ok := netip.AddrFromSlice(b)
	return netip.AddrPortFrom(ip.Unmap(), uint16(port)), ok
}
