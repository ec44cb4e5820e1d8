package harness

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/sim"
)

// stubborn is an algorithm that waits in a method for what never comes until the test is over.
type stubborn struct {
	overflowing
	goOn chan struct{}
}

func (s *stubborn) Start()                  { <-s.goOn }
func (s *stubborn) Status() election.Status { return election.Status{} }

func TestWhereAnElectionIsStuck(t *testing.T) {
	goOn := make(chan struct{})
	c, err := sim.New(sim.Config{Nodes: 1, Seed: 1, New: func(election.Env) election.Node { return &stubborn{goOn: goOn} }})
	require.NoError(t, err)
	require.Empty(t, stuckAt(c))
	c.Start()
	over := make(chan error)
	s := &simulated{Cluster: c}
	go func() { over <- s.Run(context.Background(), time.Second) }()
	require.Eventually(t, func() bool { return stuckAt(c) != "" }, 10*time.Second, time.Millisecond)
	require.Regexp(t, `^recount/harness\.\(\*stubborn\)\.Start \(stuck_test\.go:\d+\)$`, stuckAt(c))
	watched := make(chan struct{})
	go func() {
		s.stuck(context.Background())
		close(watched)
	}()
	time.Sleep(100 * time.Millisecond) // until that has seen it
	close(goOn)
	require.NoError(t, <-over)
	require.Empty(t, stuckAt(c))
	select {
	case <-watched:
	case <-time.After(10 * time.Second):
		t.Fatal("what has gone on is still waited for")
	}
}
