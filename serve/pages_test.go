package serve

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Silence is told from half a minute on, in seconds at first, and by the server's own clock.
func TestSilenceHasALength(t *testing.T) {
	a := Activity{Silent: true, unseen: 45 * time.Second}
	require.Contains(t, a.Facts(), "no sign of life for 45 s")
	for d, want := range map[time.Duration]string{59 * time.Second: "59 s", 90 * time.Second: "1 min", 90 * time.Minute: "1 h", 50 * time.Hour: "2 days"} {
		require.Equal(t, want, roughly(d))
	}
}
