package algorithms

import (
	"time"

	"recount/election"
	"recount/history"
	"recount/targets"
)

func init() {
	targets.Register(&targets.Target{
		Name:  "blob-lease",
		Store: storeID,
		About: "a lease on one object in a store: who has it renews it and leads, the others try again and again",
		Source: `Microsoft, "Leader Election pattern", BlobDistributedMutex (2017); "Lease Blob" of its storage's REST ` +
			`interface`,
		Options: []targets.Option{
			targets.Scale("0.1"),
			{Name: "lease", Kind: targets.Duration, Default: "15s", About: "how long a lease lasts that is not renewed"},
			{Name: "renew", Kind: targets.Duration, Default: "5s", About: "time between renewals"},
			{Name: "retry", Kind: targets.Duration, Default: "1s", About: "time between attempts to acquire it"},
			clockOption(),
		},
		Promises: storePromises(
			targets.Promise{Property: "exclusive-leadership", While: "no clock drifts", Unless: drifts},
		),
		Bounds: func(o targets.Options) history.Bounds {
			lease, retry := targets.Scaled(o, "lease"), targets.Scaled(o, "retry")
			return targets.BoundsOf(lease+retry, 2*lease+4*retry, retry)
		},
		Node: func(o targets.Options, env election.Env) election.Node {
			lease := targets.Scaled(o, "lease")
			return viaStore(env,
				func() election.Node { return &blobStore{env: env, lease: lease} },
				func() election.Node {
					return &blobLease{
						env: env, leaseClock: leaseClock{env, o.Value("clock") == "wall"},
						lease: lease, renew: targets.Scaled(o, "renew"), retry: targets.Scaled(o, "retry"),
					}
				})
		},
	})
}

// The store's messages: Acquire, Renew and Release carry the candidate's own number for its lease in Value and, on its
// clock, the time of sending in Term. Answer repeats that time in Value; OK says that the candidate has the lease, Node
// who has it, and Term which one it is.

// blobStore is a blob with a lease. It counts the leases that it has given, which the real one does not: so that what a
// holder writes that stood still can be told from what its successor writes.
type blobStore struct {
	env   election.Env
	lease time.Duration
	blob  struct {
		Number  uint64      // of the lease given last
		Holder  election.ID // nobody, if it was released
		Session uint64
	}
	until time.Duration // the lease runs out, on the store's clock
}

// Start lets a lease that an earlier life gave run from now on: how much of it was left is not on disk.
func (s *blobStore) Start() {
	recall(s.env, &s.blob)
	s.until = s.env.Now() + s.lease
}

// Expire does nothing: a lease that has run out is one when somebody asks.
func (s *blobStore) Expire(election.Timer) {}

// Status is hearsay: the store never leads.
func (s *blobStore) Status() election.Status {
	v := election.Status{Term: s.blob.Number}
	if s.taken() {
		v.Leader = s.blob.Holder
	}
	return v
}

func (s *blobStore) taken() bool { return s.blob.Holder != election.None && s.env.Now() < s.until }

// Receive answers one request. A lease that ran out can be renewed as long as nobody else has acquired it.
func (s *blobStore) Receive(from election.ID, m election.Message) {
	own := s.blob.Holder == from && s.blob.Session == m.Value
	switch {
	case m.Kind == "Release":
		if own {
			s.blob.Holder = election.None
			keep(s.env, s.blob)
		}
		return
	case own:
		s.until = s.env.Now() + s.lease
	case m.Kind == "Acquire" && !s.taken():
		s.blob.Number++
		s.blob.Holder, s.blob.Session = from, m.Value
		s.until = s.env.Now() + s.lease
		keep(s.env, s.blob)
		own = true
	}
	s.env.Send(from, election.Message{
		Kind: "Answer", OK: own, Term: s.blob.Number, Value: m.Term, Node: s.Status().Leader,
	})
}

// blobLease is a candidate. It tries to acquire the lease until it has it, then renews it. It leads while the lease
// surely lasts, counted on its own clock from when it asked for it: a renewal that fails, or is not answered in time,
// ends the leadership.
type blobLease struct {
	env election.Env
	leaseClock
	lease, renew, retry time.Duration

	session uint64
	since   time.Duration // of the session: answers to what was asked by then are not its own
	number  uint64        // the lease that was heard of last
	leader  election.ID   // and who has it
	until   time.Duration // that is believed
}

const (
	askTime   election.Timer = iota // to acquire or renew
	leaseTime                       // to look whether it has run out
)

// Start begins to ask at a random moment, so that candidates do not all ask together.
func (b *blobLease) Start() {
	b.session, b.since = session(b.env), b.read()
	b.env.SetTimer(askTime, time.Duration(b.env.Rand().Int64N(int64(b.retry))))
}

// Status looks at the clock: a lease runs out while nothing happens.
func (b *blobLease) Status() election.Status {
	s := election.Status{Term: b.number}
	if b.leader == election.None || b.read() >= b.until {
		return s
	}
	if s.Leader = b.leader; b.leader == b.env.ID() {
		s.Role = election.Leader
	}
	return s
}

// Expire asks for the lease, or again.
func (b *blobLease) Expire(t election.Timer) {
	if t != askTime {
		return // Status does the rest
	}
	kind, next := "Acquire", b.retry
	if b.Status().Role == election.Leader {
		kind, next = "Renew", b.renew
	}
	b.env.SetTimer(askTime, next)
	b.env.Send(storeID, election.Message{Kind: kind, Value: b.session, Term: uint64(b.read())})
}

// Receive handles the store's answers. Of two on one lease, that to the later request counts.
func (b *blobLease) Receive(_ election.ID, m election.Message) {
	asked := time.Duration(m.Value)
	if m.Term < b.number || m.Term == b.number && asked+b.lease < b.until || asked <= b.since || asked > b.read() {
		return
	}
	led := b.Status().Role == election.Leader
	b.number, b.leader, b.until = m.Term, m.Node, asked+b.lease
	if !m.OK && b.leader == b.env.ID() {
		b.leader = election.None // an earlier life of this node has it
	}
	if b.Status().Role == election.Leader {
		b.env.SetTimer(leaseTime, b.until-b.read())
		if !led {
			b.env.SetTimer(askTime, b.renew)
		}
	}
}

// Resign releases the lease, and leaves it to others for the length of one.
func (b *blobLease) Resign() {
	if b.Status().Role == election.Leader {
		b.env.Send(storeID, election.Message{Kind: "Release", Value: b.session})
		b.session, b.since, b.leader = session(b.env), b.read(), election.None
		b.env.SetTimer(askTime, b.lease)
	}
}
