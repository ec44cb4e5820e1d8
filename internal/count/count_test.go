package count

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOf(t *testing.T) {
	require.Equal(t, "0 nodes", Of(0, "node"))
	require.Equal(t, "1 node", Of(1, "node"))
	require.Equal(t, "12 nodes", Of(12, "node"))
	require.Equal(t, "more change", "more "+Noun(1, "change"))
}

func TestTime(t *testing.T) {
	for d, want := range map[time.Duration]string{
		45 * time.Second: "45 s", 59 * time.Second: "59 s", 90 * time.Second: "1 min", 90 * time.Minute: "1 h", 47 * time.Hour: "47 h", 50 * time.Hour: "2 days",
	} {
		require.Equal(t, want, Time(d))
	}
}

func TestAgo(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	for at, want := range map[time.Time]string{
		{}: "at no known time", now.Add(time.Hour): "just now", now.Add(-59 * time.Second): "just now", now.Add(-5 * time.Minute): "5 min ago",
	} {
		require.Equal(t, want, Ago(at, now))
	}
}
