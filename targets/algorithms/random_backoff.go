package algorithms

import (
	"time"

	"recount/election"
	"recount/history"
	"recount/targets"
	"recount/targets/algorithms/detector"
)

func init() {
	targets.Register(&targets.Target{
		Name:    "random-backoff",
		About:   "each node waits at random and then claims the leadership, asking nobody",
		Source:  "no paper: contention as on the Ethernet (Metcalfe and Boggs, 1976), but with nobody to notice a collision",
		NoTerms: true,
		Options: append([]targets.Option{
			targets.Scale("0.1"),
			{Name: "backoff", Kind: targets.Duration, Default: "1s", About: "longest random wait before a claim"},
		}, detector.Options("1s", "3")...),
		// Nothing is promised: two waits that end within the time a message travels make two leaders, for good.
		Bounds: func(o targets.Options) history.Bounds { return postBounds(o, targets.Scaled(o, "backoff")) },
		Node: func(o targets.Options, env election.Env) election.Node {
			return &randomBackoff{post: newPost(o, env), backoff: targets.Scaled(o, "backoff")}
		},
	})
}

// randomBackoff is a node that takes the post if nobody else has claimed it by the end of a random wait. There is no
// vote, so a claim cannot fail; and no rule for two claims, so who has claimed goes on to lead. A follower stays with
// the leader that it heard first.
type randomBackoff struct {
	post
	backoff time.Duration
}

const backoffTimer = freeTimer

// Start waits at random, as everybody does who knows no leader.
func (r *randomBackoff) Start() { r.wait() }

// Expire ends a wait. The one for the leader's next heartbeat is followed by a random one.
func (r *randomBackoff) Expire(t election.Timer) {
	switch t {
	case beatTimer:
		r.beat()
	case silenceTimer:
		r.wait()
	case backoffTimer:
		r.lead()
		r.beat()
	}
}

// Receive handles a leader's heartbeat, and its farewell.
func (r *randomBackoff) Receive(from election.ID, m election.Message) {
	switch {
	case r.role == election.Leader, r.leader != election.None && r.leader != from:
		// It leads, or has its leader already.
	case m.Kind == "HEARTBEAT":
		r.env.StopTimer(backoffTimer)
		r.follow(from)
	case m.Kind == "RESIGN" && r.leader == from:
		r.wait()
	}
}

// Resign gives up the post.
func (r *randomBackoff) Resign() { r.resign() }

func (r *randomBackoff) wait() {
	r.leave(election.Follower)
	r.env.SetTimer(backoffTimer, time.Duration(r.env.Rand().Int64N(int64(r.backoff)+1)))
}
