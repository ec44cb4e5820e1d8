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
	spare []*asking // questions that were answered
}

// asking is a question under way, or one that was: nodes are asked so often that the next one takes its place.
type asking struct {
	*clients
	node   string
	done   func(history.View, error)
	answer func(history.View, error) // its own method
}

func withClients(c Cluster, names []string) *clients {
	return &clients{Cluster: c, names: names, cut: map[string]bool{}}
}

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
		if k.Cut {
			c.cut[k.Node] = true
		} else {
			delete(c.cut, k.Node)
		}
	}
	if len(ch.Clients) == 0 {
		c.Cluster.Apply(ch, done)
		return
	}
	came := history.Step{Of: history.Changes{Clients: ch.Clients}, Effect: history.Effect{Seen: history.OK}}
	ch.Clients = nil
	rest(c.Cluster, ch, func(made []history.Step) { done(history.InSteps(append([]history.Step{came}, made...)...)) })
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
	var a *asking
	if k := len(c.spare) - 1; k >= 0 {
		a, c.spare = c.spare[k], c.spare[:k]
	} else {
		a = &asking{clients: c}
		a.answer = a.answered
	}
	a.node, a.done = node, done
	c.Cluster.Observe(node, a.answer)
}

// answered passes an answer on, if it gets through.
func (a *asking) answered(v history.View, err error) {
	node, done := a.node, a.done
	a.done = nil
	a.spare = append(a.spare, a)
	if a.reach(node) {
		done(v, err)
	}
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
