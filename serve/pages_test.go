package serve

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPagesGoByTheServersClock(t *testing.T) {
	results := t.TempDir()
	r := simulate(t, results, "ping-pong", 1)
	_, h := open(t, Config{Results: results, Now: func() time.Time { return r.Started.Add(73 * time.Hour) }})
	require.Contains(t, get(h, "/runs").Body.String(), "3 days ago")
}

// Silence is told from half a minute on, in seconds at first, and by the server's own clock.
func TestSilenceHasALength(t *testing.T) {
	a := Activity{Silent: true, unseen: 45 * time.Second}
	require.Contains(t, a.Facts(), "no sign of life for 45 s")
}
