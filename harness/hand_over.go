package harness

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

func (r *run) withHandOvers(c Cluster) *handOvers {
	return &handOvers{c, r.names, workloads.NewAsker(c, r.recorder, min(r.bounds.Silence, askPatience), r.asker(), r.stride())}
}

// asks tells whether the nemesis is to ask nodes for something.
func (s *subject) asks() bool { return nemesis.Asks(s.Schedule, s.Recorded) }

// answers tells why nodes cannot be asked what the nemesis is to ask, if they cannot.
func (s *subject) answers() error {
	if !s.asks() || s.target.Can(election.Resign, s.options) {
		return nil
	}
	return hint.Add(fmt.Errorf("hand-over: %s cannot be asked to hand over", s.Target), "leave the fault out, or take a target that can: recount list targets NAME tells")
}

// split takes apart who is to be asked, and what else is to change.
func split(ch history.Changes) (asked []history.HandOver, rest history.Changes) {
	for _, s := range ch.More[history.HandOvers] {
		if h := s.(history.HandOver); h.Asked {
			asked = append(asked, h)
		}
	}
	if ch.HandsOver() {
		ch.More = maps.Clone(ch.More)
		delete(ch.More, history.HandOvers)
	}
	return asked, ch
}

func (h *handOvers) Can(ch history.Changes) error {
	asked, rest := split(ch)
	for _, a := range asked {
		for _, n := range []string{a.Node, a.Heir} {
			if n != "" && !slices.Contains(h.names, n) {
				return hint.Unknown("node", n, h.names)
			}
		}
	}
	return h.Cluster.Can(rest)
}

// Apply asks when all else is as it is to be.
func (h *handOvers) Apply(ch history.Changes, done func(history.Effect)) {
	if err := h.Can(ch); err != nil {
		done(history.Effect{Seen: history.Fail, Err: err})
		return
	}
	asked, rest := split(ch)
	if rest.Empty() {
		h.ask(asked, history.Effect{Seen: history.OK}, done)
		return
	}
	h.Cluster.Apply(rest, func(e history.Effect) { h.ask(asked, e, done) })
}

// ask asks one node after the other. What e says of all else holds unless it comes to less.
func (h *handOvers) ask(asked []history.HandOver, e history.Effect, done func(history.Effect)) {
	if len(asked) == 0 {
		done(e)
		return
	}
	heir := election.ID(slices.Index(h.names, asked[0].Heir) + 1)
	h.asker.HandOver(asked[0].Node, heir, func(t history.Type, problem string) {
		if t != history.OK && e.Seen == history.OK {
			e.Seen, e.Err = t, errors.New(problem)
		}
		h.ask(asked[1:], e, done)
	})
}

// handOver has a member of a real system carry out a command, which can be that alone. It returns what is known then; nil if
// nothing is.
func handOver(y election.System, all []election.Member, name string, cmd election.Command, dial election.Dial) (answer func(done func(uint64, error))) {
	end := func(err error) func(done func(uint64, error)) {
		return func(done func(uint64, error)) { done(0, err) }
	}
	ask := election.HandOverOf(y)
	if cmd.Do != election.Resign || ask == nil {
		return end(election.ErrCannot)
	}
	self := all[slices.IndexFunc(all, func(m election.Member) bool { return m.Name == name })]
	if self.Server {
		return end(election.ErrNotLeader)
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerWithin)
	defer cancel()
	err := ask(ctx, self, all, cmd.Heir, dial)
	for _, certain := range []error{election.ErrNotLeader, election.ErrRefused, election.ErrNoHeir, election.ErrCannot} {
		if err == nil || errors.Is(err, certain) {
			return end(err)
		}
	}
	return nil
}
