package sim

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/history"
)

// writer is an algorithm that does four things for every message that it gets, the last of them also when it is unwound.
type writer struct{ election.Env }

func (w *writer) Start()                  {}
func (w *writer) Expire(election.Timer)   {}
func (w *writer) Status() election.Status { return election.Status{} }

func (w *writer) Receive(from election.ID, m election.Message) {
	if m.Kind != "do" {
		return
	}
	defer w.Store("last", []byte{1})
	w.Send(from, election.Message{Kind: "done"})
	w.Store("first", []byte{1})
	w.Sync()
}

func TestAProcessEndsInTheMiddleOfWhatItDoes(t *testing.T) {
	for effect, want := range []struct {
		sent  int
		first bool
	}{{0, false}, {1, false}, {1, false}, {1, true}, {1, true}} {
		c, err := New(Config{Nodes: 2, Seed: 1, New: func(env election.Env) election.Node { return &writer{env} }})
		require.NoError(t, err)
		var told []string
		c.OnSprung(func(id int, what string, did history.Changes) {
			require.Equal(t, 7, id)
			require.Equal(t, []history.Proc{{Node: "n2", State: history.Crashed}}, did.Procs)
			told = append(told, what)
		})
		sent := 0
		c.OnMessage(func(m Carried) {
			if m.Message.Kind == "done" {
				sent++
			}
		})
		c.Start()
		require.NoError(t, c.Run(context.Background(), time.Second))
		trap := history.Trap{Node: "n2", ID: 7, TrapState: history.TrapState{
			Do: history.Finish, On: history.Receives, Kind: "do", Most: 1, Effect: effect, Crash: true,
		}}
		c.Apply(history.ChangesOf(trap), func(e history.Effect) { require.Equal(t, history.OK, e.Seen, e.Err) })
		require.Equal(t, history.ChangesOf(trap).More, c.State().More)
		c.nodes[0].Send(2, election.Message{Kind: "do"})
		require.NoError(t, c.Run(context.Background(), 2*time.Second))
		require.Len(t, told, 1)
		require.Equal(t, want.sent, sent, "after %d effects", effect)
		disk := &c.nodes[1].disk // the machine died: what was synced is left
		require.Equal(t, want.first, disk.load("first") != nil, "after %d effects", effect)
		require.Nil(t, disk.load("last"), "it was not synced")
		require.Equal(t, history.Crashed, c.nodes[1].state)
	}
}

func TestNodesThatWorkWithoutEndAreCutShort(t *testing.T) {
	c, err := New(Config{Nodes: 3, Seed: 1, Work: 20_000, New: func(env election.Env) election.Node { return &echo{env} }})
	require.NoError(t, err)
	c.Start()
	err = c.Run(context.Background(), time.Hour)
	var endless *Endless
	require.ErrorAs(t, err, &endless)
	require.Contains(t, endless.Recent, "again n1→n2")
	require.ErrorContains(t, err, "of the last 64 messages again n")
	require.Less(t, c.Now(), time.Minute)
}

// What the harness does, and a nemesis that never rests, is no work of the nodes'.
func TestOnlyWhatNodesDoIsTheirWork(t *testing.T) {
	c, err := New(Config{Nodes: 3, Seed: 1, Work: 1000, New: func(election.Env) election.Node { return mute{} }})
	require.NoError(t, err)
	c.Start()
	calls := 0
	var again func()
	again = func() {
		calls++
		c.After(time.Millisecond, again)
	}
	again()
	require.NoError(t, c.Run(context.Background(), 10*time.Second))
	require.Greater(t, calls, 9000)
}

type mute struct{}

func (mute) Start()                                {}
func (mute) Expire(election.Timer)                 {}
func (mute) Status() election.Status               { return election.Status{} }
func (mute) Receive(election.ID, election.Message) {}

// echo sends every message on to both of the others.
type echo struct{ election.Env }

func (e *echo) Start()                  { e.Receive(0, election.Message{}) }
func (e *echo) Expire(election.Timer)   {}
func (e *echo) Status() election.Status { return election.Status{} }
func (e *echo) Receive(_ election.ID, _ election.Message) {
	for id := election.ID(1); id <= 3; id++ {
		if id != e.ID() {
			e.Send(id, election.Message{Kind: "again"})
		}
	}
}

func TestHealingStartsNoProcessOnceWorkIsEndless(t *testing.T) {
	c, err := New(Config{Nodes: 3, Seed: 1, Work: 20_000, New: func(env election.Env) election.Node { return &babbler{env} }})
	require.NoError(t, err)
	c.Apply(history.ChangesOf(history.Proc{Node: "n2", State: history.Down}), func(history.Effect) {})
	c.After(0, c.nodes[0].start)
	var endless *Endless
	require.ErrorAs(t, c.Run(context.Background(), time.Second), &endless)
	work := c.work.done
	c.Apply(history.ChangesOf(history.Proc{Node: "n2", State: history.Up}), func(e history.Effect) { require.Equal(t, history.OK, e.Seen) })
	require.Equal(t, work, c.work.done, "nobody sends anything more")
	require.ErrorAs(t, c.Run(context.Background(), 2*time.Second), &endless)
}

// babbler sends without end in one method.
type babbler struct{ election.Env }

func (b *babbler) Expire(election.Timer)                 {}
func (b *babbler) Status() election.Status               { return election.Status{} }
func (b *babbler) Receive(election.ID, election.Message) {}
func (b *babbler) Start() {
	for {
		b.Send(3, election.Message{Kind: "again"})
	}
}

func TestATrapCountsMessagesToItsReceiversOnly(t *testing.T) {
	c, err := New(Config{Nodes: 4, Seed: 1, New: func(env election.Env) election.Node { return &writer{env} }})
	require.NoError(t, err)
	c.Start()
	require.NoError(t, c.Run(context.Background(), time.Second))
	state := history.TrapState{Do: history.Lose, To: "n2,n3", Most: 9}
	c.Apply(history.ChangesOf(history.Trap{Node: "n1", ID: 1, TrapState: state}), func(history.Effect) {})
	var lost []string
	c.OnSprung(func(_ int, what string, _ history.Changes) { lost = append(lost, what) })
	for to := range election.ID(3) {
		c.nodes[0].Send(to+2, election.Message{Kind: "note"})
	}
	require.Equal(t, []string{"note n1→n2 lost", "note n1→n3 lost"}, lost)
	state.To = "n2,n9"
	require.ErrorContains(t, c.Can(history.ChangesOf(history.Trap{Node: "n1", ID: 2, TrapState: state})), `no node "n9"`)
}

// climber is in a term that it stores, enters another with every message, and does two things in each.
type climber struct {
	election.Env
	term uint64
}

func (k *climber) Expire(election.Timer) {}
func (k *climber) Status() election.Status {
	return election.Status{Role: election.Leader, Term: k.term, Leader: k.ID()}
}

func (k *climber) Start() {
	if b := k.Load("term"); b != nil {
		k.term = uint64(b[0])
	}
	k.Store("started", nil)
}

func (k *climber) Receive(election.ID, election.Message) {
	k.term++
	k.Store("term", []byte{byte(k.term)})
	k.Sync()
}

func TestATrapCountsTermsAndLeadsOnce(t *testing.T) {
	for _, on := range []history.TrapOn{history.Rises, history.Leads} {
		c, err := New(Config{Nodes: 2, Seed: 1, New: func(env election.Env) election.Node { return &climber{Env: env} }})
		require.NoError(t, err)
		sprung := 0
		c.OnSprung(func(int, string, history.Changes) { sprung++ })
		c.Start()
		climb := func() {
			c.nodes[0].Send(2, election.Message{Kind: "climb"})
			require.NoError(t, c.Run(context.Background(), c.now+time.Second))
		}
		climb()
		trap := history.Trap{Node: "n2", ID: 1, TrapState: history.TrapState{Do: history.Finish, On: on, Pass: 2, Most: 1}}
		c.Apply(history.ChangesOf(trap), func(e history.Effect) { require.Equal(t, history.OK, e.Seen, e.Err) })
		climb()
		for _, state := range []history.ProcState{history.Down, history.Up} { // it comes back in the term that it has stored
			c.Apply(history.ChangesOf(history.Proc{Node: "n2", State: state}), func(history.Effect) {})
		}
		climb()
		require.Zero(t, sprung, "%s: two terms since, of which it was to pass two", on)
		climb()
		require.Equal(t, 1, sprung, on)
	}
}

// chosen leads from when it is told to.
type chosen struct {
	election.Env
	leads bool
	got   []string
}

func (k *chosen) Start()                {}
func (k *chosen) Expire(election.Timer) {}
func (k *chosen) Status() (s election.Status) {
	if k.leads {
		s = election.Status{Role: election.Leader, Term: 1, Leader: k.ID()}
	}
	return s
}

func (k *chosen) Receive(_ election.ID, m election.Message) {
	k.leads = k.leads || m.Kind == "lead"
	k.got = append(k.got, m.Kind)
}

func TestAMessageWaitsUntilItsReceiverLeads(t *testing.T) {
	var nodes []*chosen
	c, err := New(Config{Nodes: 3, Seed: 1, New: func(env election.Env) election.Node {
		nodes = append(nodes, &chosen{Env: env})
		return nodes[len(nodes)-1]
	}})
	require.NoError(t, err)
	c.OnSprung(func(int, string, history.Changes) {})
	c.Start()
	state := history.TrapState{Do: history.Hold, Kind: "note", Most: 1, Until: history.UntilElected}
	c.Apply(history.ChangesOf(history.Trap{Node: "n3", ID: 1, TrapState: state}), func(history.Effect) {})
	send := func(to election.ID, kind string) {
		c.nodes[2].Send(to, election.Message{Kind: kind})
		require.NoError(t, c.Run(context.Background(), c.now+time.Second))
	}
	send(2, "note")
	send(1, "lead")
	require.Empty(t, nodes[1].got, "somebody else leads")
	send(2, "lead")
	require.Equal(t, []string{"lead", "note"}, nodes[1].got)
}
