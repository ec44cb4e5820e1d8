package harness

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"recount/harness/record"
	"recount/history"
	"recount/internal/seed"
	"recount/nemesis"
	"recount/sim"
	"recount/workloads"
)

// Who watches a run or acts in it, and what they are told of the cluster.

// How leaders write: soon after the last write, with most of the time between looking and writing. A leader that is
// paused is then most likely paused there.
const (
	writeEvery = 20 * time.Millisecond
	writeGap   = 100 * time.Millisecond
)

// begin records what the run is, and attaches everybody who watches or acts.
func (r *run) begin() {
	clients := r.wrap()
	writes := workloads.WritesOf(workloads.Named(r.Workloads))
	setup := r.setup(writes)
	r.append(history.Op{Process: history.Harness, Type: history.OK, F: history.Begin, Setup: setup})
	r.look()
	if !record.Repeats(r.On) { // what does is over in a moment, and the report tells it all
		r.recorder.Watch(r.tell)
	}
	n := history.Process(len(r.names))
	if writes != workloads.NoWrites {
		r.fence = workloads.NewFence(r.cluster.Now, r.recorder, r.names, !setup.Recorded, n, r.stride())
		r.fence.Reach = clients.reach
		r.cluster.Writers(r.fence, writeEvery, writeGap)
	}
	r.cluster.OnStall(func(d time.Duration) {
		r.append(history.Op{Process: history.Harness, Type: history.Info, F: history.Stall, Access: history.Access{Value: int64(d)}})
	})
	r.ended, r.news = map[string]bool{}, news{leads: leads{}}
	r.cluster.OnExit(r.exited)
	if c, tells := r.base.(tellsAlarms); tells && r.target.Alarms {
		r.alarms = map[string]time.Duration{}
		c.OnAlarm(r.alarmed)
	}
	silent := r.silent()
	r.observers = workloads.Observe(r.cluster, r.recorder, r.names, silent, r.bounds.Poll, 0, r.stride())
	if as := r.target.Begins; as != nil {
		heard := slices.DeleteFunc(slices.Clone(r.names), func(n string) bool { return !silent(n) })
		r.observers.Begins(heard, *as, cmp.Or(setup.Lag, r.bounds.Lull())+1)
	}
	r.rest = r.work()
	r.nemesis = nemesis.New(r.cluster, r.recorder, r.views, seed.New(r.Seed, "nemesis"))
	r.nemesis.Written = r.Written()
	r.watchClocks()
}

// wrap has traps told of, and puts clients between the cluster and those who use it.
func (r *run) wrap() *clients {
	r.base = r.cluster
	if c, traps := r.base.(tellsTraps); traps {
		c.OnSprung(func(id int, what string, did history.Changes) { r.nemesis.Sprung(id, what, did) })
	}
	if c, sees := r.base.(heedsViews); sees {
		r.recorder.Watch(func(op *history.Op) {
			if op.Type == history.OK && op.Node != "" && op.View != (history.View{}) {
				c.Seen(op.Node, op.View)
			}
		})
	}
	if r.target.System != nil { // algorithms answer in no words of their own
		r.unread = countUnread(r.cluster, r.bounds, r.target.Definition != nil)
		r.cluster = r.unread
	}
	clients := withClients(r.cluster, r.names)
	r.cluster = clients
	if r.asks() {
		r.cluster = r.withAsked(clients, r.base)
	}
	return clients
}

// lag is how long a log line that stands takes to be read, at most; 0 if nobody knows. In virtual time it is read as it is written; what a
// busy machine makes of it in containers, nothing bounds but what the checkers allow for.
func (r *run) lag() time.Duration {
	if r.target.Standing && r.On == record.OnVirtual {
		return time.Millisecond
	}
	return 0
}

// setup is what the history says of the run before all else.
func (r *run) setup(writes workloads.Writes) *history.Setup {
	return &history.Setup{
		Version: Version, Target: r.Target, Options: r.options.All(), Cluster: r.On, Seed: r.Seed, Nodes: r.names,
		Servers: r.servers, Peers: r.peers, Voting: r.voting, Store: r.store(), NoTerms: !r.target.Numbered(r.options), Standing: r.target.Standing, Lag: r.lag(), Tokens: r.target.Tokens, Alarms: r.target.Alarms,
		Recorded: writes == workloads.AcceptStale, Bounds: r.bounds,
	}
}

// look opens the views that the nemesis aims by.
func (r *run) look() {
	r.views = nemesis.NewViews(r.names, r.recorder)
	if r.peers {
		r.views.Stand(r.servers)
	} else {
		r.views.Serve(r.servers)
	}
	r.views.Vote(r.voting)
	r.views.NoLeaderNames, r.views.Tokens = r.target.NoLeaderNames, r.target.Tokens
}

// exited takes up that a node has ended by itself.
func (r *run) exited(node string, code int) {
	r.ended[node] = true
	killed := code == killedStatus && slices.ContainsFunc(r.nemesis.Holds().Memories(), func(m history.Memory) bool { return m.Node == node })
	how := fmt.Sprintf("exit status %d", code)
	if killed {
		how += ", for want of memory"
	}
	if c, tells := r.base.(tellsPanics); tells {
		if words := c.Panicked(node); words != "" {
			how += ", " + words
		}
	}
	r.append(history.Op{Process: history.Harness, Type: history.Info, F: history.Exit, Node: node, Error: how})
	if killed {
		r.note("%s was ended by the kernel, since it wanted more memory than it was left", node)
		return
	}
	if r.On == record.OnSim && code == sim.DiskStatus { // of which it writes nothing
		r.note("%s ended by itself: its disk had failed it", node)
		return
	}
	r.note("%s ended by itself with exit status %d; its log is in nodes/%s.log", node, code, node)
}

// killedStatus is that of a process that SIGKILL has ended.
const killedStatus = 128 + 9
