package workloads

import (
	"math/rand/v2"
	"strconv"
	"time"

	"recount/election"
	"recount/history"
)

// How the clients of the register and of updates go about it.
const (
	registerClients = 4
	commandEvery    = 100 * time.Millisecond
)

// register has clients read and write a register behind the leader.
func init() {
	register(&Workload{
		Name:    "register",
		About:   "clients read and write a register behind the leader, where the election keeps one",
		Needs:   election.Put,
		Ops:     []history.F{history.Get, history.Put},
		Serves:  []string{"linearizable", "progress"},
		Clients: registerClients,
		Start: func(s Scene) (stop func()) {
			return KeepRegister(s.Cluster, s.Recorder, s.Nodes, s.Rand, registerClients, commandEvery, s.First, s.Stride)
		},
	})
}

// registerClient reads and writes one register behind the leader. It stays with the node that serves it, and goes to
// another when it is refused or not answered: so it may go on asking a leader of old.
type registerClient struct {
	nodes   []string
	every   time.Duration
	rand    *rand.Rand
	value   *uint64
	stopped *bool
	client  client
	at      int // the node that it asks

	tick func()                               // its own method next
	done func(t history.Type, problem string) // its own method ended
}

// KeepRegister starts so many clients, each of which gives a command about once in every interval. Processes number from
// first, and stride is the number of all processes of the run.
func KeepRegister(c Cluster, r *history.Recorder, nodes []string, rnd *rand.Rand, clients int, every time.Duration,
	first, stride history.Process,
) (stop func()) {
	value, stopped := uint64(0), false
	for i := range clients {
		k := &registerClient{
			nodes: nodes, every: every, rand: rnd, value: &value, stopped: &stopped, at: i % len(nodes),
			client: client{cluster: c, recorder: r, process: first + history.Process(i), stride: stride, patience: 10 * every},
		}
		k.tick, k.done = k.next, k.ended
		c.After(every+time.Duration(rnd.Int64N(int64(every))), k.tick)
	}
	return func() { stopped = true }
}

// next gives the next command.
func (k *registerClient) next() {
	if *k.stopped {
		return
	}
	op, cmd := history.Op{F: history.Get, Node: k.nodes[k.at]}, election.Command{Do: election.Get}
	if k.rand.IntN(2) == 0 {
		*k.value++
		cmd = election.Command{Do: election.Put, Value: *k.value}
		op.F, op.Reg = history.Put, &history.Register{Value: word(cmd.Value)}
	}
	k.client.give(op, cmd, k.done)
}

func (k *registerClient) ended(t history.Type, _ string) {
	if t != history.OK {
		k.at = (k.at + 1) % len(k.nodes)
	}
	k.client.cluster.After(k.every/2+time.Duration(k.rand.Int64N(int64(k.every))), k.tick)
}

// word is a register's value as histories have it; 0 is nothing, which nobody writes.
func word(value uint64) string {
	if value == 0 {
		return ""
	}
	return strconv.FormatUint(value, 10)
}
