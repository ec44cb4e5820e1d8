//go:build linux

package agent

import (
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"recount/history"
	"recount/internal/headers"
)

// reset answers whatever comes over TCP with an RST: connections break at the next packet, and new ones are refused. An
// RST itself gets through, so that the receiver's end of a broken connection learns of it.
type reset struct{ selection }

func (r *reset) part(s history.LinkState) history.LinkState { return history.LinkState{Reset: s.Reset} }

func (r *reset) install(f *filter) error {
	r.name = "reset"
	match := func(*family) []expr.Any {
		return append(protocol(unix.IPPROTO_TCP),
			&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: headers.Flags, Len: 1},
			&expr.Bitwise{SourceRegister: 1, DestRegister: 1, Len: 1, Mask: []byte{headers.RST}, Xor: []byte{0}},
			&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{0}})
	}
	return r.selection.install(f, input, match, func(*family) []expr.Any {
		return []expr.Any{&expr.Reject{Type: unix.NFT_REJECT_TCP_RST}}
	})
}

func (r *reset) read(f *filter) (states, error) {
	return r.states(f, func(float64) history.LinkState { return history.LinkState{Reset: true} })
}
