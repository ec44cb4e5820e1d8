//go:build linux

package agent

import "recount/history"

// cut drops all packets of a link at its receiver. A link is one way: cutting one from n1 to n2 fills a set of addresses in
// the filter of n2 (see selection), and what n2 sends still arrives at n1.
type cut struct{ selection }

func (c *cut) part(s history.LinkState) history.LinkState { return history.LinkState{Cut: s.Cut} }

func (c *cut) install(f *filter) error {
	c.name = "cut"
	return c.selection.install(f, input, anything, drop)
}

func (c *cut) read(f *filter) (states, error) {
	return c.states(f, func(float64) history.LinkState { return history.LinkState{Cut: true} })
}
