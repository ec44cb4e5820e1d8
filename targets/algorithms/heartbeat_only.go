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
		Name:    "heartbeat-only",
		About:   "whoever sends heartbeats leads; when they stop, somebody else begins",
		Source:  "no paper: what monitoring scripts and active/standby pairs do; 5 s of silence",
		NoTerms: true,
		Options: append([]targets.Option{targets.Scale("0.1")}, detector.Options("1s", "5")...),
		Promises: []targets.Promise{
			{Property: "agreement", While: "no message is late", Suspended: targets.SlowsLinks},
			{Property: "elects", While: wholeNetwork, Suspended: targets.BreaksLinks},
			{Property: "learns-leader"},
		},
		Bounds: func(o targets.Options) history.Bounds { return postBounds(o, 3*targets.Scaled(o, "heartbeat")) },
		Node:   func(o targets.Options, env election.Env) election.Node { return &heartbeatOnly{post: newPost(o, env)} },
	})
}

// heartbeatOnly is a node that follows whose heartbeats it hears and leads when it hears none. No quorum is asked, so
// every part of a split network gets a leader of its own. Two leaders that hear each other settle it by their ids.
//
// Nodes do not watch the clock all the time but look at it once a heartbeat, each at its own moment. That is what keeps
// all those who lost a leader together from claiming the post together.
type heartbeatOnly struct {
	post
	phase time.Duration // of this node's looks
}

const lookTimer = freeTimer

// Start listens for a leader that may be there.
func (h *heartbeatOnly) Start() {
	h.phase = time.Duration(h.env.Rand().Int64N(int64(h.interval)))
	h.await()
}

// Expire sends the next heartbeat, or leads at the first look that finds the leader silent.
func (h *heartbeatOnly) Expire(t election.Timer) {
	switch t {
	case beatTimer:
		h.beat()
	case silenceTimer:
		h.leave(election.Follower)
		h.env.SetTimer(lookTimer, h.interval-(h.env.Now()+h.phase)%h.interval)
	case lookTimer:
		h.lead()
		h.beat()
	}
}

// Receive handles a leader's heartbeat, and its farewell.
func (h *heartbeatOnly) Receive(from election.ID, m election.Message) {
	switch {
	case m.Kind == "HEARTBEAT":
		h.env.StopTimer(lookTimer)
		h.hear(from)
	case m.Kind == "RESIGN" && h.leader == from:
		h.Expire(silenceTimer)
	}
}

// Resign gives up the post.
func (h *heartbeatOnly) Resign() { h.resign() }
