package algorithms

import (
	"encoding/binary"
	"time"

	"recount/election"
	"recount/history"
	"recount/targets"
)

func init() {
	targets.Register(&targets.Target{
		Name:  "leader-lease",
		About: "a lease of a fixed length from a majority, renewed by its holder; others wait until it has run out",
		Source: `Gray and Cheriton, "Leases" (1989), section 2; from a majority as Trencseni, Gazso and Reinhardt, ` +
			`"PaxosLease" (2012), section 3`,
		Options: []targets.Option{
			targets.Scale("0.1"),
			{Name: "lease", Kind: targets.Duration, Default: "10s", About: "how long a lease lasts that is not renewed"},
			{Name: "renew", Kind: targets.Duration, Default: "3s", About: "time between renewals, and between looks at others' leases"},
			clockOption(),
		},
		Promises: targets.OnDisk([]targets.Promise{
			{Property: "single-leader-per-term"},
			{Property: "exclusive-leadership", While: "no clock drifts by more than 5 %", Unless: driftsFar},
			{Property: "fencing"},
			{Property: "monotonic-term"},
			{Property: "vote-once"},
			{Property: "quorum"},
			{Property: "agreement"},
			{
				Property:  "elects",
				While:     "the nodes of a majority are all connected to each other, and nobody's requests are always overtaken by what takes them back",
				Suspended: targets.PicksMessages,
			},
			{Property: "learns-leader"},
		}...),
		Bounds: func(o targets.Options) history.Bounds {
			lease, renew := targets.Scaled(o, "lease"), targets.Scaled(o, "renew")
			// Twenty rounds of asking: while messages come late, two that ask at one time take the lease from each other.
			return targets.BoundsOf(lease+renew, 2*lease+20*renew, renew)
		},
		Node: func(o targets.Options, env election.Env) election.Node {
			return &leaderLease{
				env:        env,
				leaseClock: leaseClock{env, o.Value("clock") == "wall"},
				pledge:     pledge{length: targets.Scaled(o, "lease")},
				support:    newSupport(env.Size()),
				renewal:    targets.Scaled(o, "renew"),
			}
		},
	})
}

// leaderLease is a node that grants leases and wants one. A lease is a majority's pledge not to grant it to anybody
// else until it has run out on their clocks. Its holder counts it from before it asked, on its own clock, and renews
// it in time; the others look at random times whether theirs has run out. Leases are in memory: a node that starts
// grants nothing for the length of one.
//
// Leases have numbers, so that a resource can refuse what a holder writes that stood still: a new lease gets a higher
// number than any that a majority has heard of. The number is on disk with whom it was granted to. A renewal needs no
// new number, and none to be the highest, as others may have tried higher ones in vain.
//
// Request asks for the lease Term; OK says that the sender has it already. Grant answers it, and repeats Value, the
// time of the request on its sender's clock; refused, it has the highest number known in Term. Release gives back what
// was asked for before Value.
type leaderLease struct {
	env election.Env
	leaseClock
	pledge  // this node's own
	support // and the others'
	renewal time.Duration

	// On disk before any message tells of it.
	number  uint64      // the highest that was heard of
	given   election.ID // whom this node has granted it to
	current uint64      // the highest lease that somebody had

	role   election.Role
	leader election.ID // who has the lease current; believed as long as this node is pledged to it
	asked  uint64      // as a candidate: the number of the lease that it asked for
}

const (
	lookTime  election.Timer = iota // to see whether the lease has run out
	renewTime                       // of the lease, or the end of waiting for grants
)

// Start takes up the numbers of an earlier life, and is bound by what that may have granted.
func (l *leaderLease) Start() {
	if b := l.env.Load("lease"); len(b) == 24 {
		l.number = binary.BigEndian.Uint64(b)
		l.given = election.ID(binary.BigEndian.Uint64(b[8:]))
		l.current = binary.BigEndian.Uint64(b[16:])
		l.env.Sync() // the life before may have ended before it could
	}
	l.bind(election.None, 0, l.read())
	l.env.SetTimer(lookTime, l.length+l.soon())
}

// Status looks at the clock: a lease runs out while nothing happens.
func (l *leaderLease) Status() election.Status {
	s := election.Status{Term: l.current}
	switch {
	case l.role == election.Leader && l.has():
		s.Role, s.Leader = election.Leader, l.env.ID()
	case l.role == election.Candidate:
		s.Role = election.Candidate
	case l.role == election.Follower && l.to == l.leader && l.read() < l.until:
		s.Leader = l.leader
	}
	return s
}

// has reports whether this node surely has the lease.
func (l *leaderLease) has() bool { return l.lasts(l.env.ID(), l.read(), l.length) }

// Expire looks whether the lease is to be had, or renews it.
func (l *leaderLease) Expire(t election.Timer) {
	switch {
	case t == lookTime && l.free(l.env.ID(), l.read()):
		l.ask()
	case t == lookTime:
		l.env.SetTimer(lookTime, l.soon())
	case l.role == election.Leader && l.has():
		l.renew()
	default: // too few have granted it, or renewed it
		l.release()
		l.env.SetTimer(lookTime, l.renewal+l.soon()) // who has it asks again meanwhile, and is granted it
	}
}

// Receive handles a message.
func (l *leaderLease) Receive(from election.ID, m election.Message) {
	switch m.Kind {
	case "Request":
		ok := l.grant(from, m)
		l.env.Send(from, election.Message{Kind: "Grant", Term: max(m.Term, l.number), Value: m.Value, OK: ok})
	case "Grant":
		switch candidate := l.role == election.Candidate; {
		case !m.OK:
			l.learn(m.Term, election.None)
		case candidate && m.Term != l.asked: // of the lease before: by a clock that was set it may look like one of this
		default:
			if l.granted(from, time.Duration(m.Value)); candidate && l.has() {
				l.lead()
			}
		}
	case "Release":
		if l.released(from, time.Duration(m.Value)) {
			l.leader = election.None
		}
	}
}

// grant pledges this node to who asks for a lease or renews one, if it may.
func (l *leaderLease) grant(to election.ID, m election.Message) bool {
	now := l.read()
	again := m.Term == l.number && l.given == to
	if !l.free(to, now) || m.OK && m.Term < l.current || !m.OK && m.Term <= l.number && !again {
		return false
	}
	if m.OK {
		l.learn(m.Term, election.None)
		if m.Term > l.current {
			l.current = m.Term
			l.save()
		}
		l.leader = to
	} else if !again {
		l.learn(m.Term, to)
	}
	l.role = election.Follower // if it had a lease, that has run out
	l.env.StopTimer(renewTime)
	l.env.SetTimer(lookTime, l.soon())
	l.bind(to, time.Duration(m.Value), now)
	return true
}

// learn takes note of a number, and of whom the lease with it is granted to by this node.
func (l *leaderLease) learn(number uint64, given election.ID) {
	if number <= l.number {
		return
	}
	l.number, l.given = number, given
	l.save()
	if given != election.None {
		l.env.Granted(number, given)
	}
}

// ask asks for a new lease.
func (l *leaderLease) ask() {
	now := l.read()
	l.role, l.leader, l.since = election.Candidate, election.None, now
	l.acks.reset(never)
	l.learn(l.number+1, l.env.ID())
	l.asked = l.number
	l.bind(l.env.ID(), now, now)
	l.env.SetTimer(renewTime, l.renewal/2)
	broadcast(l.env, election.Message{Kind: "Request", Term: l.number, Value: uint64(now)})
	if l.has() {
		l.lead()
	}
}

// lead begins a leadership with a lease that was granted.
func (l *leaderLease) lead() {
	l.role, l.leader, l.current = election.Leader, l.env.ID(), l.asked
	l.save()
	l.renew()
}

// renew asks for the pledges again, this node's own included.
func (l *leaderLease) renew() {
	now := l.read()
	l.bind(l.env.ID(), now, now)
	l.env.SetTimer(renewTime, l.renewal)
	broadcast(l.env, election.Message{Kind: "Request", Term: l.current, Value: uint64(now), OK: true})
}

// release gives the lease back, or what was granted of it.
func (l *leaderLease) release() {
	l.role, l.leader = election.Follower, election.None
	l.unbind()
	l.env.StopTimer(renewTime)
	broadcast(l.env, election.Message{Kind: "Release", Value: uint64(l.read())})
}

// soon is a random time, so that nodes do not all ask together.
func (l *leaderLease) soon() time.Duration {
	return time.Duration(l.env.Rand().Int64N(int64(l.renewal) + 1))
}

func (l *leaderLease) save() {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 24), l.number)
	b = binary.BigEndian.AppendUint64(b, uint64(l.given))
	l.env.Store("lease", binary.BigEndian.AppendUint64(b, l.current))
	l.env.Sync()
}

// Resign gives the lease back, and leaves it to others for the length of one.
func (l *leaderLease) Resign() {
	if l.role == election.Leader {
		l.release()
		l.env.SetTimer(lookTime, l.length+l.soon())
	}
}
