package sim

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/history"
)

// sentTwenty is what becomes of twenty messages from n1 to n2, or to the others, that nobody answers.
func sentTwenty(t *testing.T, lay *history.Trap, spoil func(c *Cluster, sent time.Duration)) (all []Carried) {
	c, err := New(Config{Nodes: 3, Seed: 4, New: func(env election.Env) election.Node { return &writer{env} }})
	require.NoError(t, err)
	c.OnMessage(func(m Carried) { all = append(all, m) })
	c.Start()
	require.NoError(t, c.Run(context.Background(), time.Second))
	if lay != nil {
		c.Apply(history.ChangesOf(*lay), func(e history.Effect) { require.Equal(t, history.OK, e.Seen, e.Err) })
	}
	spoil(c, c.now)
	for range 20 {
		c.nodes[0].Send(2, election.Message{Kind: "note"})
		require.NoError(t, c.Run(context.Background(), c.now+10*time.Millisecond))
	}
	if lay != nil {
		c.Apply(history.ChangesOf(history.Trap{Node: lay.Node, ID: lay.ID}), func(history.Effect) {})
		require.NoError(t, c.Run(context.Background(), c.now+time.Second))
	}
	return all
}

func nothing(*Cluster, time.Duration) {}

// spoil is for the first of the twenty.
func spoil(late time.Duration) func(*Cluster, time.Duration) {
	return func(c *Cluster, sent time.Duration) {
		c.Spoil(Carried{From: "n1", To: "n2", Sent: sent, Message: election.Message{Kind: "note"}}, late)
	}
}

func TestASpoiledMessageLeavesAllOthersAsTheyWere(t *testing.T) {
	all := sentTwenty(t, nil, nothing)
	require.Len(t, all, 20)
	require.Equal(t, all[1:], sentTwenty(t, nil, spoil(0)))
	late := sentTwenty(t, nil, spoil(time.Hour))
	require.Equal(t, all[1:], late)
	late = sentTwenty(t, nil, spoil(5*time.Millisecond))
	require.Equal(t, all[0].Arrived+5*time.Millisecond, late[0].Arrived)
	require.Equal(t, all[0].Sent, late[0].Sent)
	require.Equal(t, all[1:], late[1:])
}

func TestMessagesThatTrapsCatchAreTold(t *testing.T) {
	lose := &history.Trap{Node: "n1", ID: 1, TrapState: history.TrapState{Do: history.Lose, Most: 1}}
	all := sentTwenty(t, lose, nothing)
	require.Len(t, all, 20)
	require.Equal(t, "a trap lost it", all[0].Lost)

	hold := &history.Trap{Node: "n1", ID: 1, TrapState: history.TrapState{Do: history.Hold, Most: 1, Until: history.UntilHeal}}
	all = sentTwenty(t, hold, nothing)
	require.Len(t, all, 20)
	held := all[19]
	require.Less(t, held.Sent, all[0].Sent, "it was sent first")
	require.Greater(t, held.Arrived, all[18].Arrived)
	require.Equal(t, all[:19], sentTwenty(t, hold, spoil(0)), "it is known by when it was sent")
}
