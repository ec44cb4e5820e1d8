//go:build linux

package agent

import "recount/history"

// cut drops all packets.
type cut struct{ selection }

func (c *cut) part(s history.LinkState) history.LinkState { return history.LinkState{Cut: s.Cut} }

func (c *cut) install(f *filter) error {
	c.name = "cut"
	return c.selection.install(f, input, anything, drop)
}

func (c *cut) read(f *filter) (states, error) {
	return c.states(f, func(float64) history.LinkState { return history.LinkState{Cut: true} })
}
