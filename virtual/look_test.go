package virtual

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Three goroutines sleep, started by a loop, and main waits for one of them.
func TestWhatGoroutinesWereAtIsTold(t *testing.T) {
	over := errors.New("over")
	var at time.Duration
	var all []Goroutines
	r := runs(t, "sleepers")
	r.After(90*time.Second, func() {
		at = r.Now()
		ps := r.Processes()
		require.Len(t, ps, 1)
		require.Equal(t, "n1", ps[0].Node)
		require.Equal(t, r.path, ps[0].Path)
		link, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", ps[0].PID))
		require.NoError(t, err)
		require.Equal(t, r.path, link)
		all, err = ps[0].Quit()
		require.NoError(t, err)
		r.lose(over)
	})
	require.ErrorIs(t, r.Run(t.Context(), 3*time.Minute), over)
	require.Equal(t, 90*time.Second, at)
	var main, sleepers Goroutines
	for _, g := range all {
		switch len(g.IDs) {
		case 3:
			sleepers = g
		default:
			if g.IDs[0] == "1000001" {
				main = g
			}
		}
	}
	require.Equal(t, "sleep", sleepers.State)
	require.Contains(t, sleepers.Stack, "main.sleeper(")
	require.Contains(t, main.Stack, "main.main()")
	require.Equal(t, "chan receive", main.State)
}
