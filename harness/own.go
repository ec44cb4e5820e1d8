package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"recount/election"
	"recount/history"
	"recount/internal/hint"
	"recount/nemesis"
)

// ownFaults is a cluster whose nodes the nemesis asks for faults that the target describes itself.
type ownFaults struct {
	Cluster
	nodes []string
	known []string
	base  afflicted // the cluster below, which no fault of clients is in the way to
}

// afflicted is a cluster of a system that has faults of its own.
type afflicted interface {
	// Afflict asks a node to begin a fault, or to end it.
	Afflict(node, fault string, begin bool, done func(error))
}

// Afflict implements afflicted. A fault whose process has ended is over, though nobody listens there who could be asked
// to end it, and whatever the next one answers who is.
func (d *driven) Afflict(node, fault string, begin bool, done func(error)) {
	key, life := history.Own{Node: node, Fault: fault}.Key(), d.lives[node]
	if begin {
		d.had[key] = life
	}
	d.beside(node, func(ctx context.Context) func() {
		ctx, cancel := context.WithTimeout(ctx, answerWithin)
		defer cancel()
		err := d.system.(election.Afflicted).Afflict(ctx, d.member(node), d.members, fault, begin, d.dial(node))
		return func() {
			if !begin && (errors.Is(err, syscall.ECONNREFUSED) || life != d.had[key] && election.Certain(err)) {
				err = nil
			}
			done(err)
		}
	})
}

// ownKnown tells why the target's own faults cannot be had that the nemesis is to ask for, if they cannot.
func (s *subject) ownKnown() error {
	for _, name := range nemesis.Owns(s.Schedule, s.Recorded) {
		switch own := s.target.Own; {
		case len(own) == 0:
			return noneOwn(s.Target)
		case name == "":
			return hint.Add(fmt.Errorf("own: which of the faults of %s?", s.Target), "with: {name: %s}", strings.Join(own, "}, or {name: "))
		case !slices.Contains(own, name):
			return hint.Unknown("fault of the target's own", name, own)
		}
	}
	return nil
}

// isOwn tells of a fault's name whether it is of what a target describes itself.
func isOwn(name string) bool {
	f, err := nemesis.Find(name)
	return err == nil && f.Own
}

// noneOwn says that a target has no faults of its own.
func noneOwn(target string) error {
	return hint.Add(fmt.Errorf("own: %s describes no faults of its own", target),
		"a spec file may: faults: {stuck: {inject: {http: /stick}, heal: {http: /loosen}}}")
}

func (o *ownFaults) Can(ch history.Changes) error {
	for _, f := range ch.Owns() {
		if !slices.Contains(o.nodes, f.Node) {
			return hint.Unknown("node", f.Node, o.nodes)
		}
		if !slices.Contains(o.known, f.Fault) {
			return hint.Unknown("fault of the target's own", f.Fault, o.known)
		}
	}
	return o.Cluster.Can(ch.Without(history.Owns))
}

// Apply asks when all else is as it is to be.
func (o *ownFaults) Apply(ch history.Changes, done func(history.Effect)) {
	if err := o.Can(ch); err != nil {
		done(history.Effect{Seen: history.Fail, Err: err})
		return
	}
	rest(o.Cluster, ch.Without(history.Owns), func(made []history.Step) { inTurn(ch.Owns(), made, o.ask, done) })
}

// ask asks a node to begin a fault, or to end it.
func (o *ownFaults) ask(f history.Own, done func(history.Effect)) {
	began := o.Now()
	o.base.Afflict(f.Node, f.Fault, f.On, func(err error) {
		e := history.Effect{Seen: history.OK, Spread: o.Now() - began}
		switch {
		case err != nil && election.Certain(err):
			e.Seen, e.Err = history.Fail, err
		case err != nil:
			e.Seen, e.Err = history.Info, err
		}
		done(e)
	})
}
