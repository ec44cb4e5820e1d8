package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/history"
)

// heir is an algorithm for these tests: it leads from a time of its life on, which a timer tells it, or the clock that it reads for
// its status.
type heir struct {
	beacon
	byClock bool
	leads   bool
	from    time.Duration
}

func (h *heir) Start() {
	h.from = h.env.Now() + time.Second
	h.env.SetTimer(0, time.Second)
}
func (h *heir) Expire(election.Timer) { h.leads = true }
func (h *heir) Status() (s election.Status) {
	if h.byClock && h.env.Now() >= h.from || !h.byClock && h.leads {
		s.Role = election.Leader
	}
	return s
}

func TestWhoWatchesAProcessSeesEachChangeAtTheNextLook(t *testing.T) {
	const every = 30 * time.Millisecond
	for _, byClock := range []bool{false, true} {
		var began time.Duration
		var seen, asLeader []time.Duration
		c, err := New(Config{Nodes: 1, Seed: 1, Often: []time.Duration{every}, New: func(env election.Env) election.Node {
			return &heir{beacon: beacon{env: env}, byClock: byClock}
		}})
		require.NoError(t, err)
		c.OnStart(func(_ election.ID, p *Process) {
			began = c.Now()
			var watch func()
			watch = func() {
				p.Watch(every, func(s election.Status) bool {
					if seen = append(seen, c.Now()-began); s.Role != election.Leader {
						return true
					}
					if asLeader = append(asLeader, c.Now()-began); len(asLeader) < 3 {
						watch()
					}
					return false
				})
			}
			watch()
		})
		c.Start()
		run(t, c, 500*time.Millisecond)
		impose(t, c, proc("n1", history.Paused)) // no look before it goes on
		impose(t, c, proc("n1", history.Up))
		run(t, c, time.Second)
		require.Equal(t, []time.Duration{34 * every, 35 * every, 36 * every}, asLeader, "one who watches again sees it again")
		if byClock {
			require.Len(t, seen, 36, "the status may be another at each look")
		} else {
			require.Less(t, len(seen), 6, "what stands is not looked at again and again")
		}

		impose(t, c, proc("n1", history.Down))
		impose(t, c, proc("n1", history.Up))
		asLeader = nil
		run(t, c, 1100*time.Millisecond)
		require.Equal(t, []time.Duration{34 * every, 35 * every, 36 * every}, asLeader, "in each life")
	}
}

func TestALookWaitsWithItsProcess(t *testing.T) {
	var seen []time.Duration
	c, err := New(Config{Nodes: 1, Seed: 1, New: func(env election.Env) election.Node { return &heir{beacon: beacon{env: env}} }})
	require.NoError(t, err)
	c.OnStart(func(_ election.ID, p *Process) {
		p.Watch(100*time.Millisecond, func(s election.Status) bool {
			seen = append(seen, c.Now())
			return s.Role != election.Leader
		})
	})
	c.Start()
	run(t, c, 200*time.Millisecond)
	require.Len(t, seen, 1)
	impose(t, c, proc("n1", history.Paused))
	run(t, c, 2*time.Second)
	require.Len(t, seen, 1)
	impose(t, c, proc("n1", history.Up))
	woke := c.Now()
	run(t, c, time.Second)
	require.Equal(t, woke+100*time.Millisecond, seen[1], "it has looked as soon as it went on, before its timer told it to lead")
}
