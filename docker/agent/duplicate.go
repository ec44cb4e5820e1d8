//go:build linux

package agent

import (
	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"recount/history"
)

// duplicate lets packets arrive twice. The kernel makes a copy and sends it to the node's own address, so that it comes
// in once more by the loopback device, with the address of its sender.
type duplicate struct{ selection }

func (d *duplicate) part(s history.LinkState) history.LinkState {
	return history.LinkState{Duplicate: rough(s.Duplicate)}
}

func (d *duplicate) install(f *filter) error {
	d.name, d.chance = "duplicate", func(s history.LinkState) float64 { return s.Duplicate }
	return d.selection.install(f, func(f *family) *nftables.Chain { return f.echo }, anything, func(f *family) []expr.Any {
		return []expr.Any{
			&expr.Immediate{Register: unix.NFT_REG_1, Data: f.own.AsSlice()},
			&expr.Dup{RegAddr: unix.NFT_REG_1},
		}
	})
}

func (d *duplicate) read(f *filter) (states, error) {
	return d.states(f, func(p float64) history.LinkState { return history.LinkState{Duplicate: p} })
}
