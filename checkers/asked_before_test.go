package checkers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestAskedBefore has n1 lead from an answer on that it was asked for at 5 s, or announces at 6 s, and looks for when it was asked for the one
// before.
func TestAskedBefore(t *testing.T) {
	for _, c := range []struct {
		claim, before string
		from          time.Duration
	}{
		{"5s-7s n1 leader", "3s-3.5s n1 follower\n6s n1 follower", 3 * time.Second},
		{"5s-7s n1 leader", "3s-5s n1 follower", 3 * time.Second},
		{"5s-7s n1 leader", "3s-5.1s n1 follower", 0},
		{"5s-7s n1 leader", "3s n1 follower\n4s n1 follower torn", 3 * time.Second},
		{"5s-7s n1 leader", "3s n1 follower\n4s n2 follower", 3 * time.Second},
		{"5s-7s n1 leader", "3s n1 follower\n4s n1 exits", 3 * time.Second},
		{"5s-7s n1 leader", "2s n2 follower\n4s n3 follower", 0},
		{"6s n1 announces leader", "3s n1 follower\n4s-5s n1 follower", 4 * time.Second},
		{"5s-7s n1 leader", "flags standing no-terms\n1s n1 announces follower\n" +
			"2s nemesis inject pause n1: pause n1\n3s n1 announces follower\n4.5s nemesis heal pause n1: start n1", 2 * time.Second},
		{"6s n1 announces leader", "flags standing no-terms\n1s n1 announces follower", 5 * time.Second},
	} {
		text := "nodes n1 n2 n3\nbounds silence=1s elect=4s poll=100ms\n"
		if c.before[0] != 'f' {
			text += "flags no-terms\n"
		}
		h, err := parseHistory(text + c.before + "\n" + c.claim + "\n9s end")
		require.NoError(t, err, c.before)
		leads := gather(h).leads
		require.NotEmpty(t, leads, c.before)
		require.InDelta(t, c.from.Seconds(), leads[0].prior.Seconds(), 0.4, "%s: %s", c.claim, c.before) // lines repeat each third of a second
	}
}
