package harness

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/virtual"
)

func TestWhatIsRefusedIsToldOnce(t *testing.T) {
	var r refused
	var told []string
	tell := func(format string, args ...any) { told = append(told, fmt.Sprintf(format, args...)) }
	require.Empty(t, r.words("n1"))
	for range 2 {
		for _, node := range []string{"n1", "n2"} {
			r.add(node, "to start /bin/true", tell)
		}
	}
	r.add("n2", "a raw socket", tell)
	require.Equal(t, []string{
		"n1 asked for what virtual time does not have, and was refused: to start /bin/true",
		"n2 asked for what virtual time does not have, and was refused: a raw socket",
	}, told)
	require.Equal(t, ", refused what virtual time does not have (to start /bin/true),", r.words("n2"))
	require.Empty(t, r.words("n3"))
}

// A run that a node brings to a standstill is cut short, for a reason that is told. No other error is taken for one.
func TestAStandstillIsNoted(t *testing.T) {
	r := &run{Config: Config{Progress: func(string) {}}}
	require.False(t, r.stood(errors.New("lost")))
	require.Empty(t, r.told)
	require.True(t, r.stood(fmt.Errorf("run: %w", &virtual.Standstill{Node: "n2", At: 1500 * time.Millisecond, What: "spins"})))
	require.Equal(t, []string{"cut short: n2 lets no time pass, 1.5s into the run: it spins; the stacks of its goroutines are in nodes/n2.log"}, r.told)
}
