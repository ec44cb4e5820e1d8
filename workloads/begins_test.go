package workloads

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// Who has said nothing for a while since its process was started is announced to be what it begins as: once, and only if it runs.
func TestWhoSaysNothingIsWhatItBeginsAs(t *testing.T) {
	c := &fake{}
	r := history.NewRecorder(nil, 0)
	var said []string
	r.Watch(func(op *history.Op) {
		if op.F == history.Announce {
			said = append(said, fmt.Sprintf("%v %s %v", op.Time, op.Node, op.View.Role))
		}
	})
	all := Observe(c, r, []string{"n1", "n2", "n3"}, func(string) bool { return true }, time.Second, 0, 9)
	all.Begins([]string{"n1", "n2"}, history.View{Role: history.Follower}, 2*time.Second)
	at := func(when time.Duration, f func()) { c.After(when-c.now, f) }
	does := func(outcome history.Type, node string, s history.ProcState) func() {
		return func() {
			fault := &history.Fault{Name: "kill", Changes: history.Changes{Procs: []history.Proc{{Node: node, State: s}}}}
			r.Append(history.Op{Time: c.now, Process: history.Nemesis, Type: outcome, F: history.Inject, Fault: fault})
		}
	}
	becomes := func(node string, s history.ProcState) func() { return does(history.OK, node, s) }
	exits := func(node string) func() {
		return func() {
			r.Append(history.Op{Time: c.now, Process: history.Harness, Type: history.Info, F: history.Exit, Node: node})
		}
	}
	leads := func(node string) func() {
		return func() { c.say(node, history.View{Role: history.Leader, Leader: node}) }
	}

	at(4*time.Second, leads("n2"))
	at(5*time.Second, all.Up) // it has taken so long for all to run
	at(10*time.Second, becomes("n1", history.Down))
	at(20*time.Second, becomes("n1", history.Up))
	at(30*time.Second, becomes("n2", history.Paused)) // which ends no process
	at(31*time.Second, becomes("n2", history.Up))
	at(40*time.Second, becomes("n2", history.Crashed))
	at(41*time.Second, becomes("n2", history.Up))
	at(42*time.Second, becomes("n2", history.Frozen)) // before it could have said anything
	at(50*time.Second, becomes("n2", history.Up))
	at(60*time.Second, exits("n1"))
	at(70*time.Second, becomes("n1", history.Up))
	at(71*time.Second, leads("n1")) // its line comes before that is due
	at(80*time.Second, becomes("n1", history.Down))
	at(81*time.Second, becomes("n1", history.Up))
	at(82*time.Second, becomes("n1", history.Down)) // it is gone again
	at(90*time.Second, does(history.Invoke, "n1", history.Up))
	at(91*time.Second, exits("n1")) // as soon as it was started
	at(92*time.Second, becomes("n1", history.Up))
	c.run(100 * time.Second)
	require.Equal(t, []string{"4s n2 leader", "7s n1 follower", "22s n1 follower", "52s n2 follower", "1m11s n1 leader"}, said)

	does(history.Invoke, "n1", history.Up)()
	becomes("n1", history.Up)()
	c.run(110 * time.Second)
	require.Equal(t, "1m42s n1 follower", said[len(said)-1], "started once more, it runs")

	becomes("n1", history.Down)()
	becomes("n1", history.Up)()
	all.Stop()
	c.run(200 * time.Second)
	require.Len(t, said, 6, "nobody is watched any more")
}
