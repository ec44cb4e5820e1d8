package nemesis_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/history"
	"recount/sim"
)

func TestSimulatedFaultsKeepTheContract(t *testing.T) {
	honour(t, newSimulated(t), containedOnly)
}

// simulated is the world of the simulator.
type simulated struct {
	*sim.Cluster
	t     *testing.T
	now   map[string]*talker
	times map[string]int
}

// talker is the algorithm of its nodes.
type talker struct {
	election.Env
	w     *simulated
	texts []string
	begun time.Duration
	back  func(n uint64)
	task  func() // what it was told to do
}

func newSimulated(t *testing.T) *simulated {
	w := &simulated{t: t, now: map[string]*talker{}, times: map[string]int{}}
	var err error
	w.Cluster, err = sim.New(sim.Config{Nodes: len(nodes), Seed: 1, New: func(env election.Env) election.Node {
		name := env.ID().String()
		k := &talker{Env: env, w: w, begun: env.Now(), back: func(uint64) {}}
		w.now[name] = k
		w.times[name]++
		return k
	}})
	require.NoError(t, err)
	w.Start()
	w.let(time.Second)
	return w
}

func (k *talker) Start()                  {}
func (k *talker) Status() election.Status { return election.Status{} }
func (k *talker) Expire(election.Timer)   { k.task() }

func (k *talker) Receive(from election.ID, m election.Message) {
	switch m.Kind {
	case "text":
		k.texts = append(k.texts, string(m.Data))
	case "ping":
		m.Kind = "pong"
		k.Send(from, m)
	case "pong":
		k.back(m.Value)
	}
}

// do has a node do something as soon as it can, as its process.
func (w *simulated) do(node string, f func(k *talker)) {
	k := w.now[node]
	k.task = func() { f(k) }
	k.SetTimer(0, 0)
}

func (w *simulated) let(d time.Duration) {
	require.NoError(w.t, w.Run(context.Background(), w.Now()+d))
}

// interrupt does nothing: what the simulator is asked to do it has done before anybody can press a key.
func (w *simulated) interrupt() {}

func (w *simulated) patience() (must, mustNot time.Duration) {
	return time.Minute, 10 * time.Millisecond
}
func (w *simulated) state() history.Changes     { return w.State() }
func (w *simulated) lives(node string) int      { return w.times[node] }
func (w *simulated) heard(node string) []string { return w.now[node].texts }

func (w *simulated) say(node, text string) {
	w.do(node, func(k *talker) {
		for id := election.ID(1); int(id) <= k.Size(); id++ {
			if id != k.ID() {
				k.Send(id, election.Message{Kind: "text", Data: []byte(text)})
			}
		}
	})
}

func (w *simulated) echo(from, to string, n int, wait time.Duration) echoes {
	e := echoes{sent: n}
	sent := make([]time.Duration, n)
	came := make([]bool, n)
	var last uint64
	began := w.Now()
	w.now[from].back = func(i uint64) {
		if came[i] {
			e.twice++
			return
		}
		came[i] = true
		if i < last {
			e.early++
		}
		last = max(last, i)
		e.got++
		e.took = append(e.took, w.Now()-sent[i])
		e.all = w.Now() - began
	}
	for i := range n {
		sent[i] = w.Now()
		w.now[from].Send(election.ID(slices.Index(nodes, to)+1), election.Message{Kind: "ping", Value: uint64(i)})
		w.let(time.Millisecond)
	}
	w.let(wait)
	w.now[from].back = func(uint64) {}
	slices.Sort(e.took)
	return e
}

func (w *simulated) answers(node string) bool {
	answered := false
	w.Observe(node, func(_ history.View, err error) { answered = err == nil })
	w.let(10 * time.Millisecond)
	return answered
}

// refuses tells of connections, which there are none of here, what would become of them.
func (w *simulated) refuses(from, to string, port int) bool {
	for _, l := range w.State().Links {
		if l.Cut && l.From == from && l.To == to && (l.Port == 0 || l.Port == port) {
			return false
		}
	}
	return true
}

func (w *simulated) clock(node string) (wall time.Time, lived time.Duration) {
	k := w.now[node]
	return k.Wall(), k.Now() - k.begun
}

func (w *simulated) write(node, text string, sync bool) error {
	life := w.times[node]
	w.do(node, func(k *talker) {
		k.Store("text", []byte(text))
		if sync {
			k.Sync()
		}
	})
	w.let(time.Millisecond)
	if w.times[node] != life || !slices.Equal(w.State().Procs, nil) {
		return errors.New("its process ended over it")
	}
	return nil
}

func (w *simulated) read(node string) string { return string(w.now[node].Load("text")) }
