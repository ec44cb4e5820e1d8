package algorithms

import (
	"time"

	"recount/election"
	"recount/history"
	"recount/targets"
	"recount/targets/algorithms/detector"
)

// post is what elections share that ask nobody: a leader says that it leads, says so again with every heartbeat, and is
// believed until a failure detector finds it silent. An algorithm embeds it and decides who takes the post, and when.
type post struct {
	env      election.Env
	interval time.Duration     // between heartbeats
	detector detector.Detector // listens to the leader

	role   election.Role
	leader election.ID
	aside  bool // it has resigned, and leaves the post to others until it misses a leader
}

// The timers of a post. An algorithm's own begin at freeTimer.
const (
	beatTimer    election.Timer = iota // a leader's next heartbeat
	silenceTimer                       // the leader was not heard for too long
	freeTimer
)

func newPost(o targets.Options, env election.Env) post {
	return post{env: env, interval: targets.Scaled(o, "heartbeat"), detector: detector.New(o)}
}

// Status is what this node believes.
func (p *post) Status() election.Status { return election.Status{Role: p.role, Leader: p.leader} }

// await listens for a leader as if it had been heard just now, without knowing one.
func (p *post) await() {
	p.leave(election.Follower)
	p.env.SetTimer(silenceTimer, p.detector.Patience())
}

// leave gives up the post, or the leader that had it, for another role.
func (p *post) leave(role election.Role) {
	p.role, p.leader, p.aside = role, election.None, false
	p.env.StopTimer(beatTimer)
	p.env.StopTimer(silenceTimer)
}

// lead takes the post.
func (p *post) lead() {
	p.role, p.leader = election.Leader, p.env.ID()
	p.env.StopTimer(silenceTimer)
	p.env.SetTimer(beatTimer, p.interval)
}

// beat sends a heartbeat to everybody.
func (p *post) beat() {
	p.env.SetTimer(beatTimer, p.interval)
	broadcast(p.env, p.heartbeat())
}

// heartbeat is a leader's sign of life. Value is when it was sent, on the sender's clock.
func (p *post) heartbeat() election.Message {
	return election.Message{Kind: "HEARTBEAT", Value: uint64(p.env.Now())}
}

// follow obeys a leader that was just heard.
func (p *post) follow(leader election.ID) {
	p.role, p.leader = election.Follower, leader
	p.detector.Heard(leader, p.env.Now())
	p.env.StopTimer(beatTimer)
	p.env.SetTimer(silenceTimer, p.detector.Patience())
}

// hear handles the claim of a leader where ids decide between two: it is obeyed unless a higher one is. A leader
// answers a lower one with a heartbeat, so that after a partition one of them goes.
func (p *post) hear(from election.ID) {
	switch {
	case p.role == election.Leader && from < p.env.ID():
		p.env.Send(from, p.heartbeat())
	case from >= p.leader:
		p.follow(from)
	}
}

// resign gives up the post. Those who hear of it need not wait for silence: RESIGN from the leader is as good.
func (p *post) resign() {
	if p.role != election.Leader {
		return
	}
	broadcast(p.env, election.Message{Kind: "RESIGN"})
	p.await()
	p.aside = true
}

// postBounds are the times of an algorithm whose elections take so long once silence was noticed.
func postBounds(o targets.Options, election time.Duration) history.Bounds {
	s := detector.Silence(o)
	return targets.BoundsOf(s, s+election, targets.Scaled(o, "heartbeat"))
}
