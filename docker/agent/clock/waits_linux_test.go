//go:build amd64 || arm64

package clock

import (
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/internal/testlong"
)

const (
	waited = 50 * time.Millisecond
	// tries is how often a wait is made of which the shortest counts: a busy machine makes waits longer, and none shorter.
	tries = 5
)

// took is how long a wait takes, by a clock that is right: the shortest of some.
func (p *program) took(how string, tries int) (d time.Duration) {
	for range tries {
		began := time.Now()
		_, _, err := p.ask(fmt.Sprintf("%s %d", how, waited.Milliseconds()))
		require.NoError(p, err)
		if took := time.Since(began); d == 0 || took < d {
			d = took
		}
	}
	return d
}

// Waits of programs in any language are right before a clock drifts, and after it has: what goes wrong meanwhile ends with the
// fault.
func TestWaitsAreRightAfterADrift(t *testing.T) {
	testlong.Only(t)
	ways := []string{"sleep", "condition", "timer"}
	for _, l := range []struct {
		name string
		ways []string
	}{
		{"Go", ways}, {"Java", ways}, {"Python", ways}, {"Erlang", ways},
		{"C", append([]string{"condition-of-day", "sleep-until"}, ways...)},
	} {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			var p *program
			if l.name == "Erlang" {
				if _, err := exec.LookPath("escript"); err != nil {
					t.Skip("needs escript, of Erlang")
				}
				p = run(t, 0, "escript", "testdata/program.escript")
			} else {
				p = start(t, l.name)
			}
			patch := patched(t, p.pid())
			before := map[string]time.Duration{}
			for _, how := range l.ways {
				before[how] = p.took(how, tries)
				require.GreaterOrEqual(t, before[how], waited*9/10, how)
			}
			for _, drift := range []float64{-0.5, 0.5} {
				turn(t, patch, Skew{Drift: drift})
				time.Sleep(300 * time.Millisecond)
				for _, how := range l.ways {
					t.Logf("%s: before %v; with a drift of %v %v", how, before[how], drift, p.took(how, 1)) // each wait may last longer than the last
				}
				heal(t, patch)
				for _, how := range l.ways {
					after := p.took(how, tries)
					require.GreaterOrEqual(t, after, waited*9/10, "%s after a drift of %v", how, drift)
					require.Less(t, after, 4*before[how]+4*waited, "%s after a drift of %v", how, drift)
				}
			}
		})
	}
}

func TestWaitsUntilAnAbsoluteTimeShow(t *testing.T) {
	for _, c := range []struct {
		language, how   string
		wall, monotonic bool
	}{
		{"C", "condition", false, true}, {"C", "condition-of-day", true, false}, {"C", "sleep-until", false, true},
		{"C", "timer", false, true}, {"Java", "sleep", false, true}, {"Go", "sleep", false, false},
	} {
		t.Run(c.language+" "+c.how, func(t *testing.T) {
			p := start(t, c.language)
			var wall, monotonic bool
			for try := 0; try == 0 || try < 20 && (wall != c.wall || monotonic != c.monotonic); try++ { // a busy machine may look too late
				done := make(chan error, 1)
				go func() {
					_, _, err := p.ask(c.how + " 300")
					done <- err
				}()
				for len(done) == 0 {
					w, m := Waits(p.pid())
					wall, monotonic = wall || w, monotonic || m
					time.Sleep(5 * time.Millisecond)
				}
				require.NoError(t, <-done)
			}
			require.Equal(t, c.wall, wall)
			require.Equal(t, c.monotonic, monotonic)
		})
	}
}
