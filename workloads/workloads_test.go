package workloads

import (
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/history"
)

// fake is a cluster whose answers a test decides, and whose time a test moves.
type fake struct {
	now    time.Duration
	due    []timed
	answer func(node string, done func(history.View, error))
	say    func(string, history.View)
	voted  func(string, history.Vote)

	applied func(string, history.Update)
	command func(string, election.Command, func(uint64, error))
}

type timed struct {
	at time.Duration
	f  func()
}

func (c *fake) Now() time.Duration                                  { return c.now }
func (c *fake) After(d time.Duration, f func())                     { c.due = append(c.due, timed{c.now + d, f}) }
func (c *fake) Observe(node string, done func(history.View, error)) { c.answer(node, done) }
func (c *fake) OnAnnounce(f func(node string, v history.View))      { c.say = f }
func (c *fake) OnGranted(f func(node string, v history.Vote))       { c.voted = f }
func (c *fake) OnApplied(f func(node string, u history.Update))     { c.applied = f }
func (c *fake) Command(node string, cmd election.Command, done func(uint64, error)) {
	c.command(node, cmd, done)
}

func (c *fake) run(until time.Duration) {
	for {
		slices.SortStableFunc(c.due, func(a, b timed) int { return int(a.at - b.at) })
		if len(c.due) == 0 || c.due[0].at > until {
			c.now = until
			return
		}
		next := c.due[0]
		c.due = c.due[1:]
		c.now = next.at
		next.f()
	}
}

func count(t *testing.T, r *history.Recorder) map[string]int {
	h, err := r.History() // which also checks that no process does two things at once
	require.NoError(t, err)
	n := map[string]int{}
	for _, op := range h.Ops {
		n[op.Type.String()+" "+string(op.F)]++
	}
	return n
}

func TestObserversAskEveryNodeInEveryInterval(t *testing.T) {
	c := &fake{}
	c.answer = func(node string, done func(history.View, error)) {
		if node == "n2" {
			done(history.View{}, errors.New("connection refused"))
			return
		}
		c.After(time.Millisecond, func() { done(history.View{Role: history.Leader, Term: 1}, nil) })
	}
	r := history.NewRecorder(io.Discard, 0)
	o := Observe(c, r, []string{"n1", "n2"}, nobody, 100*time.Millisecond, 0, 2)
	c.run(time.Second - 1)
	o.Stop()
	c.run(time.Minute)
	require.Equal(t, map[string]int{"invoke observe": 20, "ok observe": 10, "fail observe": 10}, count(t, r))
}

func TestAnAnswerThatDoesNotComeIsGivenUpAndItsProcessWithIt(t *testing.T) {
	c := &fake{}
	var waiting []func(history.View, error)
	c.answer = func(_ string, done func(history.View, error)) { waiting = append(waiting, done) }
	r := history.NewRecorder(io.Discard, 0)
	Observe(c, r, []string{"n1"}, nobody, 100*time.Millisecond, 0, 7)
	c.run(2500 * time.Millisecond)
	require.Len(t, waiting, 3, "one question a second of patience")
	for _, done := range waiting {
		done(history.View{Term: 9}, nil)
		done(history.View{Term: 9}, nil)
	}
	h, err := r.History()
	require.NoError(t, err)
	var got []string
	for _, op := range h.Ops {
		got = append(got, op.Process.String()+" "+op.Type.String())
	}
	require.Equal(t, []string{"0 invoke", "0 info", "7 invoke", "7 info", "14 invoke", "14 ok"}, got, "late answers count for nothing")
}

func nobody(string) bool { return false }

func TestWhoWouldNotAnswerIsNotAsked(t *testing.T) {
	c := &fake{answer: func(_ string, done func(history.View, error)) { done(history.View{}, nil) }}
	r := history.NewRecorder(io.Discard, 0)
	Observe(c, r, []string{"n1", "s1"}, func(n string) bool { return n == "n1" }, time.Second, 0, 2)
	c.run(2400 * time.Millisecond)
	c.say("n1", history.View{Role: history.Leader, Term: 3})
	require.Equal(t, map[string]int{"invoke observe": 2, "ok observe": 2, "ok announce": 1}, count(t, r))
}

func TestWhatNodesSayByThemselvesIsRecorded(t *testing.T) {
	c := &fake{answer: func(string, func(history.View, error)) {}}
	r := history.NewRecorder(io.Discard, 0)
	Observe(c, r, []string{"n1", "n2"}, nobody, time.Second, 0, 2)
	c.say("n2", history.View{Role: history.Leader, Term: 3})
	c.voted("n1", history.Vote{Term: 3, For: "n2"})
	c.applied("n1", history.Update{Term: 3, Counter: 1, From: "n2"})
	require.Equal(t, map[string]int{"ok announce": 1, "ok granted": 1, "ok apply": 1}, count(t, r))
}

// A client of the register stays with who serves it, leaves who refuses it, and gives up who does not answer.
func TestRegisterClients(t *testing.T) {
	c := &fake{}
	asked := map[string]int{}
	var late func(uint64, error)
	c.command = func(node string, cmd election.Command, done func(uint64, error)) {
		asked[node]++
		switch node {
		case "n1":
			done(0, election.ErrNotLeader)
		case "n2":
			late = done
		default:
			c.After(time.Millisecond, func() { done(7, nil) })
		}
	}
	r := history.NewRecorder(io.Discard, 0)
	stop := KeepRegister(c, r, []string{"n1", "n2", "n3"}, rand.New(rand.NewPCG(1, 1)), 1, 20*time.Millisecond, 5, 9)
	c.run(time.Second)
	late(1, nil) // to a command that was given up
	stop()
	c.run(2 * time.Second)
	require.Equal(t, 1, asked["n1"])
	require.Equal(t, 1, asked["n2"])
	require.Greater(t, asked["n3"], 10)
	h, err := r.History()
	require.NoError(t, err)
	values := map[string]bool{}
	for _, op := range h.Ops {
		require.Contains(t, []history.Process{5, 14}, op.Process)
		switch {
		case op.F == history.Get && op.Type == history.OK:
			require.Equal(t, "7", op.Reg.Value)
		case op.F == history.Put && op.Type == history.Invoke:
			require.False(t, values[op.Reg.Value], "every write has a value of its own")
			values[op.Reg.Value] = true
		}
	}
}

func TestHandOverAsksTheLeader(t *testing.T) {
	c := &fake{command: func(_ string, _ election.Command, done func(uint64, error)) { done(0, nil) }}
	r := history.NewRecorder(io.Discard, 0)
	leaders := []string{"n1", "", "n2"}
	stop := HandOver(c, r, func() (n string) {
		n, leaders = leaders[0], leaders[1:]
		return n
	}, time.Second, 3, 9)
	c.run(3500 * time.Millisecond)
	stop()
	c.run(9 * time.Second)
	require.Equal(t, map[string]int{"invoke resign": 2, "ok resign": 2}, count(t, r))
}

func TestAFenceRefusesStaleTokensOrOnlyRecordsThem(t *testing.T) {
	for _, enforce := range []bool{true, false} {
		var now time.Duration
		r := history.NewRecorder(io.Discard, 0)
		f := NewFence(func() time.Duration { return now }, r, []string{"n1", "n2"}, enforce, 2, 5)
		write := func(node string, token uint64) bool {
			p := f.Begin(node, token, int64(token))
			defer p.End()
			return p.Decide()
		}
		require.True(t, write("n1", 4))
		require.True(t, write("n1", 4))
		require.True(t, write("n2", 6))
		require.Equal(t, !enforce, write("n1", 4))
		require.True(t, write("n2", 6))
		f.Read(9)
		h, err := r.History()
		require.NoError(t, err)
		last := h.Ops[len(h.Ops)-1]
		require.Equal(t, history.Access{Token: 6, Value: 6}, last.Access)
		stale := h.Ops[7]
		require.Equal(t, history.Process(2), stale.Process)
		if enforce {
			require.Equal(t, "stale token 4: 6 was accepted before", stale.Error)
		}
	}
}

func TestWritesOfTwoLivesOverlap(t *testing.T) {
	r := history.NewRecorder(io.Discard, 0)
	f := NewFence(func() time.Duration { return 0 }, r, []string{"n1"}, true, 1, 3)
	a := f.Begin("n1", 1, 1)
	b := f.Begin("n1", 2, 2)
	b.Decide()
	a.Decide()
	b.End()
	a.End()
	require.Equal(t, map[string]int{"invoke write": 2, "ok write": 1, "fail write": 1}, count(t, r))
}

// desk is a writer's process.
type desk struct {
	*fake
	status election.Status
	wrote  []history.Access
}

func (d *desk) Watch(every time.Duration, sees func(election.Status) (again bool)) {
	Poll(d, every, sees)
}

func (d *desk) Status(done func(election.Status)) { done(d.status) }
func (d *desk) Rand() *rand.Rand                  { return rand.New(rand.NewPCG(1, 1)) }
func (d *desk) Write(token uint64, value int64) {
	d.wrote = append(d.wrote, history.Access{Token: token, Value: value})
}

func TestAWriterWritesWhileItLeadsWithTheTermItSaw(t *testing.T) {
	d := &desk{fake: &fake{}}
	NewWriter(d, 3, 7, 100*time.Millisecond, 50*time.Millisecond).Start()
	d.run(time.Second)
	require.Empty(t, d.wrote)
	d.status = election.Status{Role: election.Leader, Term: 5}
	d.run(1100 * time.Millisecond) // it has looked, and will write in a moment
	d.status = election.Status{Role: election.Follower, Term: 6}
	d.run(2 * time.Second)
	require.Equal(t, []history.Access{{Token: 5, Value: (3<<16|7)<<32 + 1}}, d.wrote, "the gap between looking and writing")
}
