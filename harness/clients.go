package harness

import (
	"context"
	"fmt"
	"slices"

	"recount/election"
	"recount/history"
	"recount/internal/hint"
)

// clients is a cluster together with the way that leads to it from those who ask its nodes: that is the harness, here and on
// containers. What is cut is lost without a word, as on a network. What nodes announce is no answer to anybody: it is
// evidence, and gets through.
type clients struct {
	Cluster
	names []string
	cut   map[string]bool
}

func withClients(c Cluster, names []string) *clients { return &clients{c, names, map[string]bool{}} }

func (c *clients) Can(ch history.Changes) error {
	for _, k := range ch.Clients {
		if !slices.Contains(c.names, k.Node) {
			return fmt.Errorf("clients: %w", hint.Unknown("node", k.Node, c.names))
		}
	}
	ch.Clients = nil
	return c.Cluster.Can(ch)
}

func (c *clients) Apply(ch history.Changes, done func(history.Effect)) {
	if err := c.Can(ch); err != nil {
		done(history.Effect{Seen: history.Fail, Err: err})
		return
	}
	for _, k := range ch.Clients {
		c.cut[k.Node] = k.Cut
	}
	only := len(ch.Clients) > 0
	if ch.Clients = nil; only && ch.Empty() {
		done(history.Effect{Seen: history.OK})
		return
	}
	c.Cluster.Apply(ch, done)
}

func (c *clients) State(ctx context.Context) (history.Changes, error) {
	s, err := c.Cluster.State(ctx)
	for _, n := range c.names {
		if c.cut[n] {
			s.Clients = append(s.Clients, history.Client{Node: n, Cut: true})
		}
	}
	return s, err
}

// reach tells whether a node and the clients reach each other.
func (c *clients) reach(node string) bool { return !c.cut[node] }

func (c *clients) Observe(node string, done func(history.View, error)) {
	if !c.reach(node) {
		return
	}
	c.Cluster.Observe(node, func(v history.View, err error) {
		if c.reach(node) {
			done(v, err)
		}
	})
}

func (c *clients) Command(node string, cmd election.Command, done func(value uint64, err error)) {
	if !c.reach(node) {
		return
	}
	c.Cluster.Command(node, cmd, func(value uint64, err error) {
		if c.reach(node) {
			done(value, err)
		}
	})
}
