package history_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

func TestAShareIsTheBeginningOfEachPeriod(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		share    float64
		at, goes time.Duration
	}{
		{0, 57 * ms, 57 * ms},
		{0.05, 0, 0},
		{0.05, 5*ms - 1, 5*ms - 1},
		{0.05, 5 * ms, 100 * ms},
		{0.05, 1099 * ms, 1100 * ms},
		{0.05, 1100 * ms, 1100 * ms},
		{0.0351, 3510*time.Microsecond - 1, 3510*time.Microsecond - 1},
		{0.0351, 3510 * time.Microsecond, 100 * ms},
		{1, 99 * ms, 99 * ms},
	} {
		require.Equal(t, tt.goes, history.CPU{Node: "n1", Share: tt.share}.Goes(tt.at), "%v of %v", tt.at, tt.share)
	}
}

func TestOfTwoBoundsOnMemoryTheSmallerHolds(t *testing.T) {
	a, b := history.Memory{Node: "n1", Times: 1.2, Bytes: 1 << 20}, history.Memory{Node: "n1", Times: 1.1}
	want := history.Memory{Node: "n1", Times: 1.1, Bytes: 1 << 20}
	require.Equal(t, want, a.Merge(b))
	require.Equal(t, want, b.Merge(a))
	require.Equal(t, b, b.Merge(b.Healthy()))
	require.Equal(t, "limited to 1.1 times what it used, and to 1 MiB", want.Words())
	require.True(t, want.Fails())
	require.False(t, want.Healthy().(history.Memory).Fails())
}

func TestOfTwoSharesTheSmallerHolds(t *testing.T) {
	cpu := func(share float64) history.CPU { return history.CPU{Node: "n1", Share: share} }
	both := history.Merge(history.ChangesOf(cpu(0.05)), history.ChangesOf(cpu(0.2)), history.ChangesOf(cpu(0)))
	require.Equal(t, history.ChangesOf(cpu(0.05)), both.Changes())
	require.Equal(t, both, history.Merge(history.ChangesOf(cpu(0)), history.ChangesOf(cpu(0.2)), history.ChangesOf(cpu(0.05))))
	require.Empty(t, history.Merge(history.ChangesOf(cpu(0))))
	require.True(t, cpu(0.05).Same(cpu(0.050001)), "a microsecond makes no difference")
	require.False(t, cpu(0.05).Same(cpu(0)))
	require.Equal(t, "held to 3.5%", cpu(0.035).Words())
}
