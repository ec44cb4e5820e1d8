package harness

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"recount/election"
	"recount/history"
	"recount/internal/hint"
	"recount/nemesis"
	"recount/workloads"
)

// handOvers is a cluster whose nodes the nemesis has asked to hand over, by a client of its own.
type handOvers struct {
	Cluster
	names []string
	asker *workloads.Asker
}

// askPatience is how long the nemesis waits for an answer at most, and other faults wait with it.
const askPatience = 5 * time.Second

// withAsked lets the nemesis ask nodes of a cluster for what its faults want of them. base is that
// cluster without anything in the way.
func (r *run) withAsked(c, base Cluster) Cluster {
	asker := workloads.NewAsker(c, r.recorder, min(r.bounds.Silence, askPatience), r.asker(), r.stride())
	if nemesis.Asks(r.Schedule, r.Recorded) {
		c = &handOvers{c, r.names, asker}
	}
	if nemesis.Reconfigures(r.Schedule, r.Recorded) {
		c = r.withMembers(c, base, asker)
	}
	if len(nemesis.Owns(r.Schedule, r.Recorded)) > 0 {
		c = &ownFaults{c, r.names, r.target.Own, base.(afflicted)}
	}
	return c
}

// asks tells whether the nemesis is to ask nodes for something.
func (s *subject) asks() bool {
	return nemesis.Asks(s.Schedule, s.Recorded) || nemesis.Reconfigures(s.Schedule, s.Recorded) || len(nemesis.Owns(s.Schedule, s.Recorded)) > 0
}

// answers tells why nodes cannot be asked what the nemesis is to ask, if they cannot.
func (s *subject) answers() error {
	if err := s.ownKnown(); err != nil {
		return err
	}
	const can = "leave the fault out, or take a target that can: recount list targets NAME tells"
	if nemesis.Asks(s.Schedule, s.Recorded) && !s.target.Can(election.Resign, s.options) {
		return hint.Add(fmt.Errorf("hand-over: %s cannot be asked to hand over", s.Target), can)
	}
	if nemesis.Reconfigures(s.Schedule, s.Recorded) && !reconfigures(s.target, s.options, s.On) {
		return hint.Add(fmt.Errorf("%s cannot be asked to change its members%s", s.Target, where(s.target, s.options, s.On)), can)
	}
	if nemesis.Teaches(s.Schedule, s.Recorded) && !teaches(s.target, s.options, s.On) {
		return hint.Add(fmt.Errorf("replace-member: %s has no learners", s.Target), "remove-member adds who comes back as a voter")
	}
	return nil
}

// split takes apart who is to be asked, and what else is to change.
func split(ch history.Changes) (asked []history.HandOver, others history.Changes) {
	for _, h := range ch.HandOvers() {
		if h.Asked {
			asked = append(asked, h)
		}
	}
	return asked, ch.Without(history.HandOvers)
}

func (h *handOvers) Can(ch history.Changes) error {
	asked, others := split(ch)
	for _, a := range asked {
		for _, n := range []string{a.Node, a.Heir} {
			if n != "" && !slices.Contains(h.names, n) {
				return hint.Unknown("node", n, h.names)
			}
		}
	}
	return h.Cluster.Can(others)
}

// Apply asks when all else is as it is to be.
func (h *handOvers) Apply(ch history.Changes, done func(history.Effect)) {
	if err := h.Can(ch); err != nil {
		done(history.Effect{Seen: history.Fail, Err: err})
		return
	}
	asked, others := split(ch)
	rest(h.Cluster, others, func(made []history.Step) { inTurn(asked, made, h.ask, done) })
}

// ask asks a node to hand over.
func (h *handOvers) ask(a history.HandOver, done func(history.Effect)) {
	heir := election.ID(slices.Index(h.names, a.Heir) + 1)
	h.asker.HandOver(a.Node, heir, func(t history.Type, problem string) {
		e := history.Effect{Seen: t}
		if t != history.OK {
			e.Err = errors.New(problem)
		}
		done(e)
	})
}
