//go:build linux

package agent

import (
	"encoding/binary"
	"math"
	"net/netip"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"recount/history"
	"recount/internal/headers"
)

// How packets are told by where they come from. Rules stand from the start and never change: they look the packet up in
// a set, and only the sets change. That is one small transaction of the kernel; to replace rules is a hundred times slower.

// family is the table for one family of addresses, and its chains in the order in which a packet meets them.
type family struct {
	own     netip.Addr
	table   *nftables.Table
	arrival *nftables.Chain // where packets are held back
	input   *nftables.Chain // where they are dropped
	echo    *nftables.Chain // where they are doubled
	addr    nftables.SetDatatype
	from    uint32 // offset of the source address in the IP header
}

// The first and the last of the types of ICMPv6 that neighbours speak.
const (
	routerSolicitation = 133
	redirect           = 137
)

func newFamily(conn *nftables.Conn, own netip.Addr) *family {
	f := &family{own: own, addr: nftables.TypeIPAddr, from: 12}
	table := &nftables.Table{Family: nftables.TableFamilyIPv4, Name: "recount"}
	if own.Is6() {
		f.addr, f.from = nftables.TypeIP6Addr, 8
		table.Family = nftables.TableFamilyIPv6
	}
	f.table = conn.AddTable(table)
	chain := func(name string, after nftables.ChainPriority) *nftables.Chain {
		c := conn.AddChain(&nftables.Chain{
			Name: name, Table: f.table, Type: nftables.ChainTypeFilter,
			Hooknum: nftables.ChainHookInput, Priority: nftables.ChainPriorityRef(*nftables.ChainPriorityRaw + after),
		})
		// What a node sends to itself is no link. A doubled packet comes this way, too, and is not to be doubled again.
		conn.AddRule(&nftables.Rule{Table: f.table, Chain: c, Exprs: []expr.Any{
			&expr.Meta{Key: expr.MetaKeyIIFTYPE, Register: 1},
			&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binaryutil.NativeEndian.PutUint16(unix.ARPHRD_LOOPBACK)},
			&expr.Verdict{Kind: expr.VerdictReturn},
		}})
		if own.Is6() { // what finds neighbours must get through, as ARP does, which is none of a table's business
			conn.AddRule(&nftables.Rule{Table: f.table, Chain: c, Exprs: append(protocol(unix.IPPROTO_ICMPV6),
				&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 0, Len: 1},
				&expr.Cmp{Op: expr.CmpOpGte, Register: 1, Data: []byte{routerSolicitation}},
				&expr.Cmp{Op: expr.CmpOpLte, Register: 1, Data: []byte{redirect}},
				&expr.Verdict{Kind: expr.VerdictReturn})})
		}
		return c
	}
	f.arrival, f.input, f.echo = chain("arrival", -10), chain("input", 0), chain("echo", 10)
	return f
}

// selection is the sources that a power concerns.
type selection struct {
	name   string
	chance func(history.LinkState) float64 // each packet is meant with this chance only; nil for always
	whole  []*nftables.Set                 // by family: addresses
	port   []*nftables.Set                 // addresses and ports
	either []*nftables.Set                 // the same without their chances
}

// outOf is how fine chances are.
const outOf = 1_000_000

// dice is a chance in kernel's terms.
func dice(p float64) uint32 {
	if p <= 0 {
		return 0
	}
	return uint32(min(outOf, max(1, math.Round(p*outOf))))
}

// rough is a chance as exactly as the kernel knows it.
func rough(p float64) float64 { return float64(dice(p)) / outOf }

// install queues the sets, and in the chain of each family the rules that do then to the packets that match and come
// from the sources.
func (s *selection) install(f *filter, chain func(*family) *nftables.Chain, match, then func(*family) []expr.Any) error {
	for _, fam := range f.families {
		add := func(name string, chance bool, of ...nftables.SetDatatype) (*nftables.Set, error) {
			if chance {
				of = append(of, nftables.TypeMark) // any number of four bytes
			}
			set := &nftables.Set{Table: fam.table, Name: s.name + name, KeyType: of[0], Interval: chance}
			if len(of) > 1 {
				set.Concatenation, set.KeyType = true, nftables.MustConcatSetType(of...)
			}
			return set, f.conn.AddSet(set, nil)
		}
		whole, err := add("", s.chance != nil, fam.addr)
		if err != nil {
			return err
		}
		port, err := add("-port", s.chance != nil, fam.addr, nftables.TypeInetService)
		if err != nil {
			return err
		}
		either := port
		if s.chance != nil {
			if either, err = add("-either", false, fam.addr, nftables.TypeInetService); err != nil {
				return err
			}
		}
		s.whole, s.port, s.either = append(s.whole, whole), append(s.port, port), append(s.either, either)
		rule := func(exprs ...[]expr.Any) {
			r := &nftables.Rule{Table: fam.table, Chain: chain(fam), Exprs: match(fam)}
			for _, e := range exprs {
				r.Exprs = append(r.Exprs, e...)
			}
			r.Exprs = append(r.Exprs, then(fam)...)
			f.conn.AddRule(r)
		}
		rule(s.lookup(fam, whole, wholePacket, s.chance != nil, false))
		for _, proto := range []byte{unix.IPPROTO_TCP, unix.IPPROTO_UDP} {
			// A packet that has the port at both ends is thrown the dice for once.
			rule(protocol(proto), s.lookup(fam, port, headers.SourcePort, s.chance != nil, false))
			rule(protocol(proto), s.lookup(fam, either, headers.SourcePort, false, true), s.lookup(fam, port, headers.DestinationPort, s.chance != nil, false))
		}
	}
	return nil
}

func protocol(number byte) []expr.Any {
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{number}},
	}
}

// wholePacket is where the port of a key is that has none.
const wholePacket = -1

// lookup matches a packet if its source is in the set, or with not if it is not.
func (s *selection) lookup(fam *family, set *nftables.Set, port int, chance, not bool) []expr.Any {
	const first = unix.NFT_REG32_00
	reg := uint32(first)
	key := []expr.Any{&expr.Payload{DestRegister: reg, Base: expr.PayloadBaseNetworkHeader, Offset: fam.from, Len: fam.addr.Bytes}}
	reg += fam.addr.Bytes / 4
	if port != wholePacket {
		key = append(key, &expr.Payload{DestRegister: reg, Base: expr.PayloadBaseTransportHeader, Offset: uint32(port), Len: 2})
		reg++
	}
	if chance {
		key = append(key, &expr.Numgen{Register: reg, Modulus: outOf, Type: unix.NFT_NG_RANDOM},
			&expr.Byteorder{SourceRegister: reg, DestRegister: reg, Op: expr.ByteorderHton, Len: 4, Size: 4})
	}
	return append(key, &expr.Lookup{SourceRegister: first, SetName: set.Name, SetID: set.ID, Invert: not})
}

// stage queues the change to these sources.
func (s *selection) stage(f *filter, from states) error {
	for i, fam := range f.families {
		var whole, port, either []nftables.SetElement
		for src, state := range from {
			if src.addr.Is6() != fam.own.Is6() {
				continue
			}
			key := src.addr.AsSlice()
			if src.port != 0 {
				key = append(binary.BigEndian.AppendUint16(key, src.port), 0, 0)
				either = append(either, nftables.SetElement{Key: key})
			}
			e := nftables.SetElement{Key: key}
			if s.chance != nil { // from 0 to the chance, less one
				e.KeyEnd = binary.BigEndian.AppendUint32(append([]byte(nil), key...), dice(s.chance(state))-1)
				e.Key = append(append([]byte(nil), key...), 0, 0, 0, 0)
			}
			if src.port != 0 {
				port = append(port, e)
			} else {
				whole = append(whole, e)
			}
		}
		fill := map[*nftables.Set][]nftables.SetElement{s.whole[i]: whole, s.port[i]: port}
		if s.chance != nil {
			fill[s.either[i]] = either
		}
		for set, elements := range fill {
			f.conn.FlushSet(set)
			if len(elements) == 0 {
				continue
			}
			if err := f.conn.SetAddElements(set, elements); err != nil {
				return err
			}
		}
	}
	return nil
}

// read tells which sources are in the sets, and with which chance.
func (s *selection) read(f *filter) (map[source]float64, error) {
	all := map[source]float64{}
	for i, fam := range f.families {
		for _, set := range []*nftables.Set{s.whole[i], s.port[i]} {
			elements, err := f.conn.GetSetElements(set)
			if err != nil {
				return nil, err
			}
			for _, e := range elements {
				n := int(fam.addr.Bytes)
				if len(e.Key) < n {
					continue
				}
				var src source
				src.addr, _ = netip.AddrFromSlice(e.Key[:n])
				if set == s.port[i] {
					src.port = binary.BigEndian.Uint16(e.Key[n:])
				}
				all[src] = 1
				if s.chance != nil {
					all[src] = float64(binary.BigEndian.Uint32(e.KeyEnd[len(e.KeyEnd)-4:])+1) / outOf
				}
			}
		}
	}
	return all, nil
}

// states are what the sources in the sets suffer, each by its chance.
func (s *selection) states(f *filter, state func(chance float64) history.LinkState) (states, error) {
	chances, err := s.read(f)
	if err != nil {
		return nil, err
	}
	all := states{}
	for src, p := range chances {
		all[src] = state(p)
	}
	return all, nil
}

// What the powers share.

func input(f *family) *nftables.Chain { return f.input }
func anything(*family) []expr.Any     { return nil }
func drop(*family) []expr.Any         { return []expr.Any{&expr.Verdict{Kind: expr.VerdictDrop}} }
