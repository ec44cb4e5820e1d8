//go:build amd64 || arm64

package clock

import (
	"fmt"
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
			requireApart(t, p)
			patch := patched(t, p.pid())
			p.requireWall("read", 0, time.Microsecond)
			turn(t, patch, Skew{Offset: time.Hour})
			p.requireWall("read", time.Hour, time.Microsecond)
			turn(t, patch, Skew{Drift: 0.5})
			time.Sleep(2 * Lead)
			measured(t, patch)
			heal(t, patch)
			p.requireWall("read", 0, time.Microsecond)
		})
	}
	p := startIn(t, "Go", 0, "unshare", "--time", "--monotonic", "1000")
	requireApart(t, p)
	_, err := Install(p.pid(), Timeline{}, within)
	require.ErrorContains(t, err, "the clocks of its time namespace are not known to be those of the machine")
	p.requireWall("read", 0, time.Microsecond)
}

// requireApart wants a program to be in a time namespace of its own, which it is since Linux 6.1 if that was made right before it was executed.
func requireApart(t *testing.T, p *program) {
	own, err := timeNamespaceOf("self")
	require.NoError(t, err)
	theirs, err := timeNamespaceOf(fmt.Sprint(p.pid()))
	require.NoError(t, err)
	if theirs.name == own.name {
		t.Skip("needs Linux 6.1, as of which programs begin in a time namespace that was made for them")
	}
}
