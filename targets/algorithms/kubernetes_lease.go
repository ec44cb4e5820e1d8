package algorithms

import (
	"time"

	"recount/election"
	"recount/history"
	"recount/targets"
)

func init() {
	targets.Register(&targets.Target{
		Name:   "kubernetes-lease",
		Store:  storeID,
		About:  "a Lease object in a store that keeps no time: candidates watch it change, each by its own clock",
		Source: `Kubernetes, k8s.io/client-go/tools/leaderelection: LeaseDuration, RenewDeadline, RetryPeriod`,
		Options: []targets.Option{
			targets.Scale("0.1"),
			{
				Name: "lease-duration", Kind: targets.Duration, Default: "15s",
				About: "how long a Lease is seen unchanged before another candidate takes it",
			},
			{
				Name: "renew-deadline", Kind: targets.Duration, Default: "10s",
				About: "how long a leader tries to renew before it gives up",
			},
			{Name: "retry-period", Kind: targets.Duration, Default: "2s", About: "time between attempts"},
			clockOption(),
		},
		Promises: storePromises(targets.Promise{
			Property: "exclusive-leadership",
			While:    "no clock drifts by more than 10 %, and an answer is neither slow nor comes to a node that stood still",
			Unless:   func(did history.Changes) bool { return targets.DriftsMore(did, 0.1) || targets.SlowsAnswers(did) },
		}),
		// A leader gives up so long after its renewal, by a clock that may be slow, and others take over by clocks that may be fast.
		Unpromised: func(o targets.Options) []string {
			holds := targets.Scaled(o, "renew-deadline") + targets.Scaled(o, "retry-period")
			if 11*holds >= 9*targets.Scaled(o, "lease-duration") {
				return []string{"exclusive-leadership"}
			}
			return nil
		},
		Bounds: func(o targets.Options) history.Bounds {
			lease, retry := targets.Scaled(o, "lease-duration"), targets.Scaled(o, "retry-period")
			return targets.BoundsOf(lease+3*retry, 2*lease+10*retry, retry)
		},
		Node: func(o targets.Options, env election.Env) election.Node {
			return viaStore(env,
				func() election.Node { return &leaseObject{env: env} },
				func() election.Node {
					return &kubernetesLease{
						env: env, leaseClock: leaseClock{env, o.Value("clock") == "wall"},
						duration: targets.Scaled(o, "lease-duration"),
						deadline: targets.Scaled(o, "renew-deadline"),
						retry:    targets.Scaled(o, "retry-period"),
					}
				})
		},
	})
}

// The store's messages: Get asks for the object, Update replaces it if its version is the one in Term, Node being the new
// holder. Both carry the candidate's identity in Value. Object answers the one, Updated the other: Node is the holder,
// Term counts the holders so far, Value is the version, and OK says that the holder is the one who asked.

// leaseObject is the store with the Lease: it compares versions and knows nothing of time.
type leaseObject struct {
	env    election.Env
	object struct {
		Version     uint64
		Transitions uint64      // LeaseTransitions, counted from 1
		Holder      election.ID // nobody, if it was released
		Identity    uint64
	}
}

// Start takes up what an earlier life stored.
func (s *leaseObject) Start() { recall(s.env, &s.object) }

// Expire has nothing to do.
func (s *leaseObject) Expire(election.Timer) {}

// Status is hearsay: the store never leads, and names whom the object names.
func (s *leaseObject) Status() election.Status {
	return election.Status{Term: s.object.Transitions, Leader: s.object.Holder}
}

// Receive answers one request.
func (s *leaseObject) Receive(from election.ID, m election.Message) {
	answer := "Object"
	if m.Kind == "Update" {
		answer = "Updated"
	}
	if m.Kind == "Update" && m.Term == s.object.Version {
		s.object.Version++
		if m.Node != election.None && (s.object.Holder != m.Node || s.object.Identity != m.Value) {
			s.object.Transitions++
		}
		s.object.Holder, s.object.Identity = m.Node, m.Value
		keep(s.env, s.object)
	}
	s.env.Send(from, election.Message{
		Kind: answer, Node: s.object.Holder, Term: s.object.Transitions, Value: s.object.Version,
		OK: s.object.Holder == from && s.object.Identity == m.Value,
	})
}

// kubernetesLease is a candidate. At every attempt it reads the object. If that is its own, has no holder, or was not
// seen to change for LeaseDuration, it writes itself into it; a renewal only changes the version. A leader that has not
// renewed within RenewDeadline gives up. Times are counted from when answers came, as in the original, which is why a
// slow answer is a danger.
type kubernetesLease struct {
	env election.Env
	leaseClock
	duration, deadline, retry time.Duration

	identity uint64
	version  uint64        // of the object as it was seen last
	changed  time.Duration // when it was seen to change
	holder   election.ID
	mine     bool   // the holder is this life of this node
	term     uint64 // holders so far
	writing  uint64 // the version that an Update is to make that was not answered yet; 0 for none
	renewed  time.Duration
	resigned bool // and has made no attempt since
}

const (
	attemptTime  election.Timer = iota // the next attempt
	deadlineTime                       // to look whether RenewDeadline is over
)

// Start begins to try.
func (k *kubernetesLease) Start() {
	k.identity, k.renewed = session(k.env), never
	k.next()
}

// next plans the next attempt. Those who do not lead vary the time, so that they do not all try together.
func (k *kubernetesLease) next() {
	d := k.retry
	if !k.leads() {
		d += time.Duration(k.env.Rand().Int64N(int64(d)*6/5 + 1))
	}
	k.env.SetTimer(attemptTime, d)
}

// leads reports whether this node holds the lease and has renewed it in time.
func (k *kubernetesLease) leads() bool { return k.mine && k.read() < k.renewed+k.retry+k.deadline }

// Status looks at the clock: the deadline may be over while nothing happens.
func (k *kubernetesLease) Status() election.Status {
	s := election.Status{Term: k.term, Leader: k.holder}
	switch {
	case k.leads():
		s.Role = election.Leader
	case k.mine, k.holder == k.env.ID():
		s.Leader = election.None
	}
	return s
}

// Expire makes an attempt.
func (k *kubernetesLease) Expire(t election.Timer) {
	if t == attemptTime {
		k.resigned = false
		k.next()
		k.env.Send(storeID, election.Message{Kind: "Get", Value: k.identity})
	}
}

// Receive handles the object, as the answer to a Get or to an Update.
func (k *kubernetesLease) Receive(_ election.ID, m election.Message) {
	if m.Value < k.version || k.resigned {
		return // it is older than what was seen, or to the holder that this node was
	}
	now := k.read()
	if m.Value > k.version {
		k.version, k.changed, k.holder, k.mine, k.term = m.Value, now, m.Node, m.OK, m.Term
	}
	switch {
	case m.Kind == "Updated":
		if m.OK && m.Value == k.writing {
			k.renewed, k.writing = now, 0
			k.env.SetTimer(deadlineTime, k.retry+k.deadline)
		}
	case k.mine, k.holder == election.None, now >= k.changed+k.duration:
		k.writing = k.version + 1
		k.env.Send(storeID, election.Message{
			Kind: "Update", Node: k.env.ID(), Value: k.identity, Term: k.version,
		})
	}
}

// Resign takes this node out of the object, and leaves it to others for as long as they may need. A renewal that was on its
// way must not make it the leader again: if that comes before, the object keeps its holder, and others wait until it has
// run out, as they do in the original.
func (k *kubernetesLease) Resign() {
	if k.leads() {
		k.env.Send(storeID, election.Message{Kind: "Update", Value: k.identity, Term: k.version})
		k.identity, k.mine, k.resigned = session(k.env), false, true
		k.env.SetTimer(attemptTime, k.duration)
	}
}
