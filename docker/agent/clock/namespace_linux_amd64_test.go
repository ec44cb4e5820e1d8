package clock

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An engine that gives each container a time namespace of its own gives it the machine's clocks.
func TestTimeNamespaces(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: makes time namespaces")
	}
	for _, language := range []string{"Go", "static C"} {
		t.Run(language, func(t *testing.T) {
			p := startIn(t, language, 0, "unshare", "--time")
			patch := patched(t, p.pid())
			p.requireWall("read", 0, time.Microsecond)
			turn(t, patch, Skew{Offset: time.Hour})
			p.requireWall("read", time.Hour, time.Microsecond)
			turn(t, patch, Skew{Drift: 0.5})
			time.Sleep(2 * Lead)
			s, err := patch.Measure(within)
			require.NoError(t, err)
			line, err := patch.Timeline()
			require.NoError(t, err)
			require.NoError(t, s.Check(line))
			heal(t, patch)
			p.requireWall("read", 0, time.Microsecond)
		})
	}
	p := startIn(t, "Go", 0, "unshare", "--time", "--monotonic", "1000")
	_, err := Install(p.pid(), Timeline{}, within)
	require.ErrorContains(t, err, "the clocks of its time namespace are not known to be those of the machine")
	p.requireWall("read", 0, time.Microsecond)
}
