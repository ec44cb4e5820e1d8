package nemesis_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
	"recount/nemesis"
)

// What every fault has to do, on every kind of cluster: take effect, as the nodes themselves see it; leave its mark in the
// history; heal without a trace, also when it is healed at once and when it is healed twice.

// world is a cluster of five nodes that send each other datagrams, answer when they are asked, and tell their clocks.
type world interface {
	nemesis.Cluster
	// let lets that time pass, and interrupt lets none pass, as when somebody presses Ctrl-C.
	let(d time.Duration)
	interrupt()
	// patience is how long to wait for what must happen, and silence for what must not.
	patience() (must, mustNot time.Duration)
	// state is what the cluster is really like.
	state() history.Changes
	// say has a node send a text to all others, in one datagram each, and heard are the texts that came to a node.
	say(node, text string)
	heard(node string) []string
	// echo has a node send n datagrams to another, which sends them back, and wait for so long after the last.
	echo(from, to string, n int, wait time.Duration) echoes
	// answers tells whether the process of a node answers just now.
	answers(node string) bool
	// refuses tells whether TCP connections to a node are refused by its machine, or by what is on the way to it; it is true
	// where there is no TCP.
	refuses(from, to string, port int) bool
	// lives is how often the process of a node has begun to live.
	lives(node string) int
	// clock is what the clocks of a node tell: the time, and how long its process has lived.
	clock(node string) (wall time.Time, lived time.Duration)
	// write has a node write to its disk and, if asked, sync it, and read is what is there.
	write(node, text string, sync bool) error
	read(node string) string
}

// echoes is what came back of datagrams.
type echoes struct {
	sent, got    int
	twice, early int             // came once more; came before one that was sent earlier
	took         []time.Duration // there and back, in order of length
	all          time.Duration   // from the first sending to the last arrival
}

var nodes = []string{"n1", "n2", "n3", "n4", "n5"}

// entry is what a fault has to do, with these words and options. n1 leads.
type entry struct {
	fault string
	nodes []string
	with  map[string]string
	cuts  int // links that it cuts, of the twenty there are
	seen  func(t *trial)
}

// trial is a fault in the middle of being tried.
type trial struct {
	*testing.T
	world
	entry
	recorder *history.Recorder
	nemesis  *nemesis.Nemesis
	ops      []history.Op // of the nemesis
	born     map[string]int
	texts    int
}

// contract has an entry for each fault there is, and more than one for some.
var contract = []entry{
	{fault: "bridge", cuts: 8},
	{fault: "cut-link", nodes: []string{"n1", "n2"}, cuts: 2},
	{fault: "cut-link", nodes: []string{"n1", "n2"}, with: map[string]string{"ports": "7001"}, seen: (*trial).onePortIsCut},
	{fault: "cut-one-way", nodes: []string{"n1", "n2"}, cuts: 1},
	{fault: "flap-link", nodes: []string{"n1", "n2"}, with: map[string]string{"down": "700ms", "up": "700ms"}, seen: (*trial).flaps},
	{fault: "flap-node", nodes: []string{"n1"}, with: map[string]string{"down": "700ms", "up": "700ms"}, seen: (*trial).flaps},
	{fault: "halves", cuts: 12},
	{fault: "isolate", nodes: []string{"n3"}, cuts: 8},
	{fault: "leader-with-minority", cuts: 12},
	{fault: "line", cuts: 12},
	{fault: "majorities-ring", cuts: 10},
	{fault: "majority-minority", cuts: 12},
	{fault: "partition", nodes: []string{"n1,n4", "n2,n3"}, cuts: 8},
	{fault: "partition", nodes: []string{"n1", "n2", "n3,n4"}, cuts: 10},
	{fault: "majority-minority", nodes: []string{"n1,n4"}, cuts: 12},
	{fault: "receive-only", nodes: []string{"n2"}, cuts: 4},
	{fault: "send-only", nodes: []string{"n1"}, cuts: 4},
	{fault: "two-leaf", cuts: 10},

	{fault: "delay", nodes: []string{"n1", "n2"}, with: map[string]string{"delay": "50ms", "jitter": "0s"}, seen: func(t *trial) {
		e := t.echoed("n1", "n2", 20)
		require.Equal(t, e.sent, e.got)
		require.GreaterOrEqual(t, e.took[0], 100*time.Millisecond, "there and back")
	}},
	{fault: "delay", nodes: []string{"n1", "n2"}, with: map[string]string{"delay": "50ms", "jitter": "40ms", "way": "back"}, seen: func(t *trial) {
		e := t.echoed("n1", "n2", 50)
		require.GreaterOrEqual(t, e.took[0], 10*time.Millisecond)
		require.Greater(t, e.took[len(e.took)-1]-e.took[0], 20*time.Millisecond, "not all equally long")
	}},
	{fault: "duplicate", nodes: []string{"n1", "n2"}, with: map[string]string{"chance": "100%"}, seen: func(t *trial) {
		require.Positive(t, t.echoed("n1", "n2", 20).twice)
	}},
	{fault: "loss", nodes: []string{"n1", "n2"}, with: map[string]string{"chance": "50%"}, seen: func(t *trial) {
		got := t.echoed("n1", "n2", 200).got // of which a quarter comes back
		require.Greater(t, got, 5)
		require.Less(t, got, 120)
	}},
	{fault: "rate", nodes: []string{"n1", "n2"}, with: map[string]string{"rate": "64kbit"}, seen: func(t *trial) {
		const bytes = 28 + 8 // of an IP packet, at least
		require.GreaterOrEqual(t, t.echoed("n1", "n2", 60).all, time.Duration(59*bytes*8)*time.Second/64_000)
	}},
	{fault: "reorder", nodes: []string{"n1", "n2"}, with: map[string]string{"chance": "50%", "delay": "30ms"}, seen: func(t *trial) {
		require.Positive(t, t.echoed("n1", "n2", 50).early)
	}},
	{fault: "reset", nodes: []string{"n1", "n2"}, seen: func(t *trial) {
		t.refused("n1", "n2", 7000)
		require.Equal(t, 10, t.echoed("n1", "n2", 10).got, "datagrams know no connection")
	}},

	{fault: "lose-message", nodes: []string{"n1", "n2"}, with: map[string]string{"kind": "ping", "nth": "2", "count": "3"}, seen: func(t *trial) {
		require.Equal(t, 17, t.echo("n1", "n2", 20, time.Second).got)
		require.Equal(t, 20, t.echo("n1", "n3", 20, time.Second).got, "to others all arrive")
	}},
	{fault: "hold-message", nodes: []string{"n1", "n2"}, with: map[string]string{"count": "5", "until": "heal"}, seen: func(t *trial) {
		require.Equal(t, 15, t.echo("n1", "n2", 20, time.Second).got)
		t.eventually("it is told", func() bool { return t.done(history.Change) != nil })
		require.Contains(t, t.done(history.Change).Fault.After, " n1→n2 held")
	}},
	{fault: "hold-message", nodes: []string{"n1", "n2"}, with: map[string]string{"until": "100ms"}, seen: func(t *trial) {
		e := t.echoed("n1", "n2", 20)
		require.Equal(t, e.sent, e.got)
		require.GreaterOrEqual(t, e.took[len(e.took)-1], 100*time.Millisecond)
		require.Less(t, e.took[0], 100*time.Millisecond, "one alone")
	}},
	{fault: "hold-message", nodes: []string{"n1", "n2"}, with: map[string]string{"kind": "ping", "until": "pong"}, seen: func(t *trial) {
		e := t.echo("n1", "n2", 20, time.Second)
		require.Equal(t, e.sent, e.got, "it goes on when n2 answers the second")
		require.Positive(t, e.early)
	}},
	{fault: "repeat-message", nodes: []string{"n1", "n2"}, with: map[string]string{"kind": "ping", "until": "pong"}, seen: func(t *trial) {
		require.Equal(t, 1, t.echo("n1", "n2", 20, time.Second).twice)
	}},
	{fault: "swap-message", nodes: []string{"n1", "n2"}, with: map[string]string{"kind": "ping", "count": "3"}, seen: func(t *trial) {
		e := t.echo("n1", "n2", 20, time.Second)
		require.Equal(t, e.sent, e.got)
		require.Positive(t, e.early)
	}},
	{fault: "crash-within", nodes: []string{"n2"}, with: map[string]string{"effects": "0", "machine": "false"}, seen: func(t *trial) {
		require.Less(t, t.echo("n1", "n2", 20, time.Second).got, 20)
		t.reborn("n2")
	}},
	{fault: "crash-within", nodes: []string{"n2"}, with: map[string]string{"effects": "0"}, seen: func(t *trial) {
		require.NoError(t, t.write("n2", "synced", true))
		require.NoError(t, t.write("n2", "more", false))
		require.Less(t, t.echo("n1", "n2", 20, time.Second).got, 20)
		t.eventually("n2 is back", func() bool { return t.answers("n2") })
		require.Equal(t, "synced", t.read("n2"))
	}},

	{fault: "cut-clients"},
	{fault: "hand-over"},

	{fault: "kill", nodes: []string{"n2"}, seen: dead(true, "n2")},
	{fault: "kill-all", seen: dead(true, nodes...)},
	{fault: "stop", nodes: []string{"n2"}, seen: dead(true, "n2")},
	{fault: "crash", nodes: []string{"n2"}, cuts: 8, seen: dead(false, "n2")},
	{fault: "pause", nodes: []string{"n1"}, seen: still},
	{fault: "pause", nodes: []string{"n1"}, with: map[string]string{"how": "freezer"}, seen: still},
	{fault: "restart", nodes: []string{"n1"}, seen: func(t *trial) { t.reborn("n1") }},
	{fault: "rolling-restart", nodes: []string{"minority"}, with: map[string]string{"down": "100ms", "up": "100ms"}, seen: func(t *trial) {
		t.reborn(t.resolved()...)
	}},
	{fault: "restart-storm", nodes: []string{"n3"}, with: map[string]string{"every": "200ms"}, seen: func(t *trial) { t.reborn("n3") }},
	{fault: "cascade", with: map[string]string{"every": "100ms"}, seen: func(t *trial) {
		require.False(t, t.answers("n1"))
		t.lead("n2", 2)
		t.eventually("the second to lead dies as well", func() bool { return !t.answers("n2") })
	}},
	{fault: "unstable-top", with: map[string]string{"after": "100ms", "down": "300ms"}, seen: func(t *trial) {
		t.reborn("n1")
		t.lead("n1", 2)
		t.eventually("it dies again", func() bool { return t.lives("n1") > t.born["n1"]+1 })
	}},

	{fault: "throttle", nodes: []string{"n1"}, with: map[string]string{"share": "1%"}, seen: func(t *trial) { t.starves("n1") }},
	{fault: "slow-start", nodes: []string{"n1"}, with: map[string]string{"down": "200ms", "slow": "1h", "share": "1%"}, seen: func(t *trial) {
		t.reborn("n1")
		t.starves("n1")
	}},

	{fault: "squeeze-memory", nodes: []string{"n1"}, with: map[string]string{"times": "10"}, seen: func(t *trial) {
		t.eventually("n1 answers: that is enough as long as it wants no more", func() bool { return t.answers("n1") })
		w := t.world.(interface {
			hog(node string, mib int)
			ended(node string) int
		})
		before := w.ended("n1")
		w.hog("n1", 2048)
		t.eventually("the kernel ends it", func() bool { return w.ended("n1") > before })
	}},
	{fault: "squeeze-memory", nodes: []string{"n1"}, with: map[string]string{"bytes": "512MiB"}, seen: func(t *trial) {
		t.world.(interface{ hog(node string, mib int) }).hog("n1", 64)
		t.eventually("n1 answers", func() bool { return t.answers("n1") })
	}},

	{fault: "clock-jump", nodes: []string{"n1"}, seen: func(t *trial) { t.wall("n1", 30*time.Second) }},
	{fault: "clock-jump", nodes: []string{"n1"}, with: map[string]string{"by": "-1h"}, seen: func(t *trial) { t.wall("n1", -time.Hour) }},
	{fault: "clock-drift", nodes: []string{"n1"}, with: map[string]string{"by": "50%"}, seen: (*trial).drifts},
	{fault: "clock-strobe", nodes: []string{"n1"}, with: map[string]string{"every": "400ms"}, seen: func(t *trial) {
		for _, by := range []time.Duration{5 * time.Second, 0, 5 * time.Second} {
			t.eventually(fmt.Sprintf("the clock is wrong by %v", by), func() bool { return t.wrong("n1", by) == 0 })
		}
	}},

	{fault: "disk-full", nodes: []string{"n1"}, seen: func(t *trial) { require.Error(t, t.write("n1", strings.Repeat("more ", 10_000), true)) }},
	{fault: "disk-errors", nodes: []string{"n1"}, seen: func(t *trial) { require.Error(t, t.write("n1", "more", true)) }},
	{fault: "disk-slow", nodes: []string{"n1"}, with: map[string]string{"by": "300ms"}, seen: func(t *trial) {
		began := t.Now()
		require.NoError(t, t.write("n1", "more", true))
		t.eventually("the node goes on", func() bool { return t.answers("n1") })
		require.GreaterOrEqual(t, t.Now()-began, 300*time.Millisecond)
	}},
	{fault: "disk-wipe", nodes: []string{"n1"}},
	{fault: "lose-writes", nodes: []string{"n1"}},
	{fault: "lose-writes", nodes: []string{"n1"}, with: map[string]string{"torn": "true"}},
	{fault: "lose-writes", nodes: []string{"n1"}, with: map[string]string{"scattered": "true"}},
}

// pieces are what lose-writes leaves some of: how many there are, and how large each is.
var pieces = map[string]struct{ count, size int }{"torn": {8, 512}, "scattered": {12, 4096}}

// after is what has to be true of some faults once they are healed.
var after = map[string]func(t *trial){
	"pause":       func(t *trial) { require.Equal(t, t.born["n1"], t.lives("n1")) },
	"disk-wipe":   func(t *trial) { require.Empty(t, t.read("n1")) },
	"lose-writes": (*trial).lost,
	"crash":       func(t *trial) { require.Equal(t, "synced", t.read("n2"), "and no more") },
	"kill":        func(t *trial) { require.Equal(t, "written", t.read("n2")) },
}

// before is what some faults find.
var before = map[string]func(t *trial){
	"disk-wipe": func(t *trial) { t.store("n1") }, "lose-writes": func(t *trial) {
		if len(t.with) == 0 {
			t.store("n1")
			return
		}
		for how := range t.with {
			all := pieces[how].count * pieces[how].size
			require.NoError(t, t.write("n1", strings.Repeat("s", all), true))
			require.NoError(t, t.write("n1", strings.Repeat("w", all), false))
		}
	},
	"crash": func(t *trial) { t.store("n2") }, "kill": func(t *trial) { t.store("n2") },
}

func (t *trial) store(node string) {
	require.NoError(t, t.write(node, "synced", true))
	require.NoError(t, t.write(node, "written", false))
}

// lost looks at what a loss of power has left: what was synced, and where it may leave more, whole pieces of what was written.
func (t *trial) lost() {
	if len(t.with) == 0 {
		require.Equal(t, "synced", t.read("n1"), "and no more")
		return
	}
	for how := range t.with {
		left, written, of := t.read("n1"), 0, pieces[how]
		require.Len(t, left, of.count*of.size)
		for at := 0; at < len(left); at += of.size {
			require.Contains(t, []string{strings.Repeat("s", of.size), strings.Repeat("w", of.size)}, left[at:at+of.size])
			if left[at] == 'w' {
				written++
			}
		}
		if _, ok := t.world.(*simulated); ok {
			require.Zero(t, written, "an algorithm's writes are whole")
			continue
		}
		require.Positive(t, written)
		require.Less(t, written, of.count)
	}
}

// honour tries all faults on a cluster, but for those that skip has a reason for.
func honour(t *testing.T, w world, skip func(*nemesis.Fault) string) {
	entries := slices.Clone(contract)
	for _, f := range nemesis.All() {
		if !slices.ContainsFunc(contract, func(e entry) bool { return e.fault == f.Name }) {
			entries = append(entries, entry{fault: f.Name, seen: (*trial).cutsLinksOnly})
		}
	}
	for _, e := range entries {
		name := e.fault
		for _, k := range slices.Sorted(maps.Keys(e.with)) {
			name += " " + k + "=" + e.with[k]
		}
		t.Run(name, func(t *testing.T) {
			f, err := nemesis.Find(e.fault)
			require.NoError(t, err)
			if f.Name == "cut-clients" || f.Asks || f.Members || f.Own {
				t.Skip("the clients are the harness, and its tests have them ask, and cut them off")
			}
			if _, simulated := w.(*simulated); !simulated && e.with["until"] == "pong" {
				t.Skip(kindsOnly(&nemesis.Fault{Events: true}))
			}
			if why := skip(f); why != "" {
				t.Skip(why)
			}
			newTrial(t, w, e).atOnce()
			newTrial(t, w, e).whole()
		})
	}
}

// cutsLinksOnly is what a fault without an entry has to do: then packets tell all of its effect. One that does more needs an
// entry that says how nodes come to feel it.
func (t *trial) cutsLinksOnly() {
	changes := t.done(history.Inject).Fault.Changes
	require.NotEmpty(t, changes.Links, "%s cuts no links: give it an entry in contract", t.fault)
	for _, l := range changes.Links {
		require.Equal(t, history.LinkState{Cut: l.Cut}, l.LinkState, "%s does more than cut links: give it an entry in contract", t.fault)
	}
	links := changes.Links
	changes.Links = nil
	require.True(t, changes.Empty(), "%s changes more than links: give it an entry in contract", t.fault)
	changes.Links = links
	t.reach(changes)
}

func newTrial(t *testing.T, w world, e entry) *trial {
	tr := &trial{T: t, world: w, entry: e, recorder: history.NewRecorder(nil, 0), born: map[string]int{}}
	tr.recorder.Watch(func(op *history.Op) {
		if op.Process == history.Nemesis {
			tr.ops = append(tr.ops, *op)
		}
	})
	views := nemesis.NewViews(nodes, tr.recorder)
	tr.nemesis = nemesis.New(w, tr.recorder, views, rand.New(rand.NewPCG(1, 2)))
	if c, traps := w.(interface {
		OnSprung(f func(id int, what string, did history.Changes))
	}); traps {
		c.OnSprung(tr.nemesis.Sprung)
	}
	for _, n := range nodes {
		tr.eventually(n+" lives", func() bool {
			tr.born[n] = w.lives(n)
			return tr.born[n] > 0
		})
	}
	tr.lead("n1", 1)
	return tr
}

// lead says that a node leads.
func (t *trial) lead(node string, term uint64) {
	for _, n := range nodes {
		v := history.View{Role: history.Follower, Term: term, Leader: node}
		if n == node {
			v.Role = history.Leader
		}
		t.recorder.Append(history.Op{Time: t.Now(), Type: history.OK, F: history.Announce, Node: n, View: v})
	}
}

// echoed is echo with more time than a busy machine takes to send back all that is going to come, of which some has to.
func (t *trial) echoed(from, to string, n int) echoes {
	t.Helper()
	e := t.echo(from, to, n, 10*time.Second)
	require.NotEmpty(t, e.took, "nothing comes back")
	return e
}

// start begins the fault.
func (t *trial) start() {
	s := nemesis.Schedule{{Fault: t.fault, Nodes: t.nodes, With: t.with}}
	require.NoError(t, s.Check(nodes))
	t.nemesis.Start(s)
}

// atOnce heals the fault before it can have taken effect.
func (t *trial) atOnce() {
	t.start()
	t.interrupt()
	t.heal()
	t.healed()
}

// whole is the whole life of a fault.
func (t *trial) whole() {
	if f := before[t.fault]; f != nil {
		f(t)
	}
	t.start()
	t.eventually("it takes effect", func() bool { return t.done(history.Inject) != nil })
	inject := t.done(history.Inject)
	require.Equal(t, history.OK, inject.Type, inject.Error)
	require.Equal(t, t.fault, inject.Fault.Name)
	require.NotEmpty(t, inject.Fault.Changes)
	if t.cuts > 0 {
		require.Len(t, inject.Fault.Links, t.cuts)
	}
	if t.seen == nil || t.cuts > 0 {
		t.reach(inject.Fault.Changes)
	}
	if t.seen != nil {
		t.seen(t)
	}
	t.heal()
	t.healed()
	if heal := t.done(history.Heal); heal != nil && !heal.Fault.Empty() {
		effect := t.apply(heal.Fault.Changes)
		require.Equal(t, history.OK, effect.Seen, "healed twice: %v", effect.Err)
		t.healed()
	}
	if f := after[t.fault]; f != nil {
		f(t)
	}
}

// done is the op that ended the first operation of a kind, or nil.
func (t *trial) done(f history.F) *history.Op {
	i := slices.IndexFunc(t.ops, func(op history.Op) bool { return op.F == f && op.Type != history.Invoke })
	if i < 0 {
		return nil
	}
	return &t.ops[i]
}

func (t *trial) apply(c history.Changes) (effect history.Effect) {
	over := false
	t.Apply(c, func(e history.Effect) { effect, over = e, true })
	t.eventually("a change is over", func() bool { return over })
	return effect
}

// eventually lets time pass until something is so.
func (t *trial) eventually(what string, is func() bool) {
	t.Helper()
	must, _ := t.patience()
	for limit := t.Now() + must; !is(); t.let(time.Millisecond) {
		require.Less(t, t.Now(), limit, "waited in vain until %s; ops: %+v", what, t.ops)
	}
}

// heal ends the fault, which must come about promptly.
func (t *trial) heal() {
	over := false
	t.nemesis.Heal(func() { over = true })
	t.eventually("all is healed", func() bool { return over })
}

// healed requires that there is no trace of a fault, but in the history.
func (t *trial) healed() {
	require.True(t, t.nemesis.Holds().Empty())
	t.eventually("the cluster is whole", func() bool { return t.state().Empty() }) // a process that just begins may look odd
	for _, n := range nodes {
		t.eventually(n+" answers", func() bool { return t.answers(n) })
	}
	for _, n := range nodes {
		t.wall(n, 0) // beside the clock of another
	}
	t.reach(history.Changes{})
	invoked, ended := 0, 0
	for _, op := range t.ops {
		require.NotEqual(t, history.Fail, op.Type, op.Error)
		if op.Type == history.Invoke {
			invoked++
		} else {
			ended++
		}
	}
	require.Equal(t, invoked, ended)
}

// reach requires that datagrams arrive wherever nothing is cut, and nowhere else. They are few.
func (t *trial) reach(c history.Changes) {
	deaf := map[string]bool{}
	for _, p := range c.Procs {
		deaf[p.Node] = true
	}
	want, have := map[string]bool{}, map[string]bool{}
	for _, a := range nodes {
		for _, b := range nodes {
			cut := slices.Contains(c.Links, history.Link{From: a, To: b, LinkState: history.LinkState{Cut: true}})
			if a != b && !cut && !deaf[a] && !deaf[b] {
				want[a+">"+b] = true
			}
		}
	}
	must, mustNot := t.patience()
	t.texts++
	text := fmt.Sprintf("%s-%d-%d", t.Name(), t.Now(), t.texts)
	for limit := t.Now() + must; len(have) < len(want) && t.Now() < limit; t.let(time.Millisecond) {
		for _, n := range nodes {
			if !deaf[n] {
				t.say(n, n+">"+text)
			}
		}
		t.let(mustNot)
		for _, n := range nodes {
			if deaf[n] {
				continue
			}
			for _, h := range t.heard(n) {
				if from, rest, _ := strings.Cut(h, ">"); rest == text {
					have[from+">"+n] = true
				}
			}
		}
	}
	require.Equal(t, want, have)
}

// onePortIsCut requires that a port of n2 is out of reach for n1, and another is not.
func (t *trial) onePortIsCut() {
	t.reach(history.Changes{})
	require.False(t, t.refuses("n1", "n2", 7001), "nobody listens there, but nothing tells n1 so")
	t.refused("n3", "n2", 7001)
}

// refused requires that connections are refused, however busy the machine is.
func (t *trial) refused(from, to string, port int) {
	t.eventually("connections are refused", func() bool { return t.refuses(from, to, port) })
}

// flaps requires that n2 loses n1 and finds it again, again and again.
func (t *trial) flaps() {
	for range 2 {
		for _, up := range []bool{false, true} {
			t.eventually(fmt.Sprintf("the link is up: %v", up), func() bool { return (t.echo("n1", "n2", 1, 200*time.Millisecond).got > 0) == up })
		}
	}
	t.eventually("the history tells", func() bool {
		changes := 0
		for _, op := range t.ops {
			if op.F == history.Change && op.Type == history.OK {
				changes++
			}
		}
		return changes >= 2
	})
}

// dead requires that processes are gone, and whether the machine lives on.
func dead(machine bool, who ...string) func(*trial) {
	return func(t *trial) {
		for _, n := range who {
			require.False(t, t.answers(n))
		}
		if len(who) < len(nodes) {
			if machine {
				t.refused("n1", who[0], 7000)
			} else {
				require.False(t, t.refuses("n1", who[0], 7000), "a dead machine does not answer")
			}
			require.Zero(t, t.echo("n1", who[0], 3, 200*time.Millisecond).got)
		}
	}
}

// still requires that n1 does nothing.
func still(t *trial) {
	require.False(t, t.answers("n1"))
}

// resolved are the nodes that the fault is about.
func (t *trial) resolved() []string { return t.done(history.Inject).Fault.Nodes }

// reborn requires that processes die and live again.
func (t *trial) reborn(who ...string) {
	for _, n := range who {
		t.eventually(n+" lives again", func() bool { return t.answers(n) && t.lives(n) > t.born[n] })
	}
}

// starves requires that a node is kept from answering, though it answers all the same in the end.
func (t *trial) starves(who string) {
	t.eventually(who+" waits for its processor", func() bool {
		e := t.echo("n2", who, 200, time.Second)
		return e.got > 0 && e.took[len(e.took)-1] >= history.CPUPeriod/2
	})
}

// wrong is by how much the wall clock of a node is not wrong by so much, measured between two looks at another's.
func (t *trial) wrong(node string, by time.Duration) time.Duration {
	other := "n5"
	if node == other {
		other = "n4"
	}
	least, _ := t.clock(other)
	told, _ := t.clock(node)
	most, _ := t.clock(other)
	const agree = time.Millisecond // machines' cores
	switch is := told.Add(-by); {
	case is.Before(least.Add(-agree)):
		return is.Sub(least)
	case is.After(most.Add(agree)):
		return is.Sub(most)
	}
	return 0
}

func (t *trial) wall(node string, by time.Duration) {
	t.Helper()
	wrong := t.wrong(node, by)
	for range 3 { // the machine's own clock may be set just then
		if wrong == 0 {
			return
		}
		wrong = t.wrong(node, by)
	}
	require.Zero(t, wrong, "%s is to be wrong by %v", node, by)
}

// drifts requires that both clocks of n1 gain half of what passes on those of n5.
func (t *trial) drifts() {
	type reading struct {
		wall  time.Time
		lived time.Duration
	}
	read := func(node string) reading {
		wall, lived := t.clock(node)
		return reading{wall, lived}
	}
	outer, from, inner := read("n5"), read("n1"), read("n5")
	t.let(200 * time.Millisecond)
	innerEnd, to, outerEnd := read("n5"), read("n1"), read("n5")
	for name, passed := range map[string]func(from, to reading) time.Duration{
		"wall":      func(from, to reading) time.Duration { return to.wall.Sub(from.wall) },
		"monotonic": func(from, to reading) time.Duration { return to.lived - from.lived },
	} {
		require.GreaterOrEqual(t, float64(passed(from, to)), 1.5*float64(passed(inner, innerEnd))-1e3, name)
		require.LessOrEqual(t, float64(passed(from, to)), 1.5*float64(passed(outer, outerEnd))+1e3, name)
	}
}
