package harness

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
)

func TestMessagesAreThoseOfTheSameRun(t *testing.T) {
	s, err := LoadScenario("ping-pong")
	require.NoError(t, err)
	p := s.Plan(record.Plan{On: record.OnSim, Seed: 7})
	r, err := Simulate(context.Background(), p)
	require.NoError(t, err)
	all, h, err := Messages(context.Background(), p)
	require.NoError(t, err)
	require.Len(t, h.Ops, len(r.History.Ops))
	for i := range h.Ops {
		require.Equal(t, string(r.History.Ops[i].AppendJSON(nil)), string(h.Ops[i].AppendJSON(nil)))
	}
	lost := 0
	for _, m := range all {
		require.GreaterOrEqual(t, m.Arrived, m.Sent)
		require.NotEmpty(t, m.Message.Kind)
		if m.Lost != "" {
			lost++
			require.ElementsMatch(t, []string{"n3", "n4"}, []string{m.From, m.To}, "only the link between them was cut: %+v", m)
		}
	}
	require.NotZero(t, lost)
	require.Greater(t, len(all), 2*lost)

	_, _, err = Messages(context.Background(), record.Plan{Target: "etcd", On: record.OnDocker})
	require.True(t, IsUsage(err))
}
