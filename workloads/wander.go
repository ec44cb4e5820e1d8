package workloads

import (
	"time"

	"recount/election"
	"recount/history"
)

// wander has clients use the register at nodes at random. Those of the workload register soon are all with the leader of the day;
// these come to a leader of old as well, and again, while it may still think that it leads.
func init() {
	register(&Workload{
		Name:    "wander",
		About:   "clients read and write the register at nodes at random, leaders of old among them",
		Needs:   election.Put,
		Ops:     []history.F{history.Get, history.Put},
		First:   registerClients + 1, // after the client that has leaders hand over
		Clients: wanderers,
		Start: func(s Scene) (stop func()) {
			const every = commandEvery / 2
			value := uint64(wandered)
			var stops []func()
			for i := range wanderers {
				c := &client{
					cluster: s.Cluster, recorder: s.Recorder, process: s.First + history.Process(i), stride: s.Stride, patience: 10 * every,
				}
				asking := false
				stops = append(stops, again(s.Cluster, every+time.Duration(s.Rand.Int64N(int64(every/4))), func() {
					if asking {
						return
					}
					asking = true
					op, cmd := history.Op{F: history.Get, Node: s.Nodes[s.Rand.IntN(len(s.Nodes))]}, election.Command{Do: election.Get}
					if s.Rand.IntN(4) == 0 {
						value++
						cmd = election.Command{Do: election.Put, Value: value}
						op.F, op.Reg = history.Put, &history.Register{Value: word(value)}
					}
					c.give(op, cmd, func(history.Type, string) { asking = false })
				}))
			}
			return func() {
				for _, stop := range stops {
					stop()
				}
			}
		},
	})
}

const (
	// wanderers are as many as can read beside each other.
	wanderers = 2
	// wandered is what they write more than: nobody else writes the same.
	wandered = 1 << 32
)
