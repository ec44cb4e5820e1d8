package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"recount/election"
	"recount/harness/record"
	"recount/history"
	"recount/internal/hint"
	"recount/nemesis"
	"recount/targets"
	"recount/workloads"
)

// memberships is a cluster whose members the nemesis has changed, as an administrator would: it asks one that is well, the leader
// if it can, and starts who was added.
type memberships struct {
	Cluster
	names   []string
	voters  []string // at first
	leader  func() string
	silence time.Duration
	asker   *workloads.Asker
	base    renewed // the cluster below, which no fault of clients is in the way to

	held history.States                 // what else is imposed
	are  map[string]election.Membership // of those that were changed; 0 where nobody knows
}

// renewed is a cluster that can give a node the process and the disk of a new member.
type renewed interface {
	// Renew has the next life of a node, whose process has ended, be that of a member that was added, with nothing of what the
	// node kept: ticket is what the cluster has told of it.
	Renew(node string, ticket uint64, done func(error))
	// Sees tells what a node takes somebody for.
	Sees(node string, who election.ID, done func(election.Membership, error))
}

// reconfigures tells whether a target's members can be changed there.
func reconfigures(t *targets.Target, o targets.Options, on string) bool {
	return t.Can(election.Reconfigure, o) && (t.Node == nil || on == record.OnSim)
}

// teaches tells whether who is added to a target can be a learner at first.
func teaches(t *targets.Target, o targets.Options, on string) bool {
	return reconfigures(t, o, on) && t.Learns(o)
}

// where is where members cannot be changed, though they can elsewhere.
func where(t *targets.Target, o targets.Options, on string) string {
	if t.Can(election.Reconfigure, o) {
		return " in containers, only in simulation"
	}
	return ""
}

func reconfigurable(y election.System) election.Reconfigurable {
	r, _ := y.(election.Reconfigurable)
	return r
}

// seen asks a member of a real system what it takes somebody for.
func seen(ctx context.Context, y election.System, all []election.Member, self election.Member, who election.ID, dial election.Dial) (election.Membership, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	return reconfigurable(y).Membership(ctx, self, all, who, dial)
}

func (r *run) withMembers(c, base Cluster, asker *workloads.Asker) *memberships {
	voters := r.names
	if len(r.voting) > 0 {
		voters = r.voting
	}
	return &memberships{
		Cluster: c, names: r.names, voters: voters, leader: func() string { return r.views.Leader() }, silence: r.bounds.Silence,
		asker: asker, base: base.(renewed), are: map[string]election.Membership{},
	}
}

func (c *memberships) Can(ch history.Changes) error {
	for _, m := range ch.Members() {
		if !slices.Contains(c.names, m.Node) {
			return hint.Unknown("node", m.Node, c.names)
		}
		if !slices.Contains(c.voters, m.Node) {
			return hint.Add(fmt.Errorf("%s does not vote: members that do can be taken out", m.Node), "name one of them")
		}
	}
	return c.Cluster.Can(ch.Without(history.Memberships))
}

// Apply changes members when all else is as it is to be.
func (c *memberships) Apply(ch history.Changes, done func(history.Effect)) {
	if err := c.Can(ch); err != nil {
		done(history.Effect{Seen: history.Fail, Err: err})
		return
	}
	others := ch.Without(history.Memberships)
	c.held = c.held.With(others)
	rest(c.Cluster, others, func(made []history.Step) { inTurn(ch.Members(), made, c.change, done) })
}

// change changes one member.
func (c *memberships) change(m history.Member, done func(history.Effect)) {
	began := c.Now()
	c.bring(m, func(t history.Type, why error) { done(history.Effect{Seen: t, Err: why, Spread: c.Now() - began}) })
}

// seat is a member on its way to be something.
type seat struct {
	*memberships
	node     string
	who      election.ID
	touched  bool // something may have changed
	deadline time.Duration
	done     func(history.Type, error)
}

// restOf is how long a change may take, with that silence: other faults wait meanwhile.
func restOf(silence time.Duration) time.Duration { return 2*silence + 2*time.Second }

func (c *memberships) lasts() time.Duration { return restOf(c.silence) }

// reseating is how long the nemesis may be busy with one change of members, in a run that has such: taking a node out, adding it,
// and waiting until it says so.
func (r *run) reseating() time.Duration {
	if !nemesis.Reconfigures(r.Schedule, r.Recorded) {
		return 0
	}
	return 3 * (restOf(r.bounds.Silence) + askPatience)
}

// retry is how long to wait before somebody is asked again.
const retry = 200 * time.Millisecond

// bring makes a node what it is to be, by as many steps as that takes, and calls done with what is known then.
func (c *memberships) bring(m history.Member, done func(history.Type, error)) {
	s := &seat{memberships: c, node: m.Node, who: election.ID(slices.Index(c.names, m.Node) + 1), deadline: c.Now() + c.lasts(), done: done}
	was, changed := c.are[m.Node]
	if !changed {
		was = election.Voter
	}
	as := map[history.Membership]election.Membership{history.Voter: election.Voter, history.Learner: election.Learner, history.Removed: election.Removed}[m.As]
	switch {
	case was == as:
		done(history.OK, nil)
	case as == election.Removed, was == election.Learner: // taken out or promoted
		s.ask(as, func(uint64) { s.confirm(as, false) })
	case c.held.Of(history.Proc{Node: m.Node}.Key()) != nil:
		done(history.Fail, fmt.Errorf("%s cannot come back while another fault keeps its process", m.Node))
	case was == election.Removed:
		s.ask(as, func(ticket uint64) { s.renew(ticket, as) })
	default: // one that votes, or may: it has to leave, to come back as another
		s.ask(election.Removed, func(uint64) {
			s.ask(as, func(ticket uint64) { s.renew(ticket, as) })
		})
	}
}

// fails ends a change that did not work.
func (s *seat) fails(t history.Type, why error) {
	if s.touched {
		t = history.Info
	}
	if t != history.Fail {
		s.are[s.node] = 0
	}
	s.done(t, why)
}

// asked are those that an administrator would turn to: the leader, and then the others that vote and run.
func (s *seat) asked() (all []string) {
	for _, n := range append([]string{s.leader()}, s.voters...) {
		as, changed := s.are[n]
		switch {
		case n == "", n == s.node, slices.Contains(all, n), changed && as != election.Voter:
		case s.held.Of(history.Proc{Node: n}.Key()) == nil:
			all = append(all, n)
		}
	}
	return all
}

// ask asks one node after the other until one says that it is done. It fails if all refuse for as long as that may take.
func (s *seat) ask(as election.Membership, then func(ticket uint64)) {
	var next func(left []string)
	doubt, why := false, errors.New("nobody is there to ask")
	next = func(left []string) {
		switch {
		case len(left) > 0 && s.Now() <= s.deadline:
		case s.Now()+retry > s.deadline && doubt:
			s.fails(history.Info, why)
			return
		case s.Now()+retry > s.deadline:
			s.fails(history.Fail, why)
			return
		default:
			s.After(retry, func() { next(s.asked()) })
			return
		}
		m := history.Member{Node: s.node, As: history.Membership(as.String())}
		s.asker.Reconfigure(left[0], m, s.who, as, func(ticket uint64, t history.Type, problem string) {
			if t == history.OK {
				s.touched = true
				then(ticket)
				return
			}
			doubt = doubt || t == history.Info
			why = fmt.Errorf("%s was asked to make %s a %s: %s", left[0], s.node, as, problem)
			if as == election.Removed {
				why = fmt.Errorf("%s was asked to take %s out: %s", left[0], s.node, problem)
			}
			next(left[1:])
		})
	}
	next(s.asked())
}

// renew ends the process of a member that was added, and starts the new one's.
func (s *seat) renew(ticket uint64, as election.Membership) {
	become := func(state history.ProcState, then func()) {
		s.Cluster.Apply(history.ChangesOf(history.Proc{Node: s.node, State: state}), func(e history.Effect) {
			if e.Seen != history.OK {
				s.fails(history.Info, fmt.Errorf("start %s anew: %w", s.node, e.Err))
				return
			}
			then()
		})
	}
	become(history.Down, func() {
		s.base.Renew(s.node, ticket, func(err error) {
			if err != nil {
				s.fails(history.Info, fmt.Errorf("start %s anew: %w", s.node, err))
				return
			}
			become(history.Up, func() { s.deadline = s.Now() + s.lasts(); s.confirm(as, true) })
		})
	})
}

// confirm waits until all members that can be asked take the node for what it is to be, and itself if it is one. Who does not say so
// within a silence is cut off, and the node that was asked has said so. Only of who was added it has to be heard: the process is
// another one, and nobody else knows that it runs. Who is promoted is a voter as soon as the others have committed it, and votes from
// then on, though nobody has told it yet.
func (s *seat) confirm(as election.Membership, added bool) {
	limit := s.Now() + s.silence
	var look func(left []string)
	look = func(left []string) {
		switch {
		case len(left) == 0:
			s.are[s.node] = as
			s.done(history.OK, nil)
			return
		case s.Now() >= s.deadline && added && slices.Contains(left, s.node):
			s.fails(history.Info, fmt.Errorf("%s was added, and does not say so", s.node))
			return
		case s.Now() >= limit && (!added || !slices.Contains(left, s.node)):
			look(nil)
			return
		}
		answered := false
		s.base.Sees(left[0], s.who, func(is election.Membership, err error) {
			if answered {
				return
			}
			answered = true
			if err == nil && is == as {
				look(left[1:])
				return
			}
			s.After(retry, func() { look(append(left[1:len(left):len(left)], left[0])) })
		})
		s.After(s.silence, func() {
			if !answered {
				answered = true
				look(append(left[1:len(left):len(left)], left[0]))
			}
		})
	}
	all := s.asked()
	if as != election.Removed {
		all = append(all, s.node)
	}
	look(all)
}
