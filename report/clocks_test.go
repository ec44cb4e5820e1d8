package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/history"
)

// skewed is a run whose n1 jumps back and forth again, whose n2 drifts and then is down, and whose n3 is right.
func skewed(t *testing.T) *record.Run {
	const s = time.Second
	ops := []history.Op{{Process: history.Harness, Type: history.OK, F: history.Begin, Setup: &history.Setup{Nodes: []string{"n1", "n2", "n3"}}}}
	read := func(at time.Duration, node string, wall, monotonic time.Duration) {
		ops = append(ops, history.Op{
			Index: len(ops), Time: at, Process: history.Harness, Type: history.OK, F: history.ReadClock, Node: node,
			Reading: history.Reading{Wall: wall, Monotonic: monotonic},
		})
	}
	for i := range time.Duration(10) {
		wall := time.Duration(0)
		if i >= 3 && i < 6 {
			wall = -30 * s
		}
		read(i*s, "n1", wall, 0)
		if i < 4 {
			read(i*s, "n2", i*s/10, i*s/10)
		} else if i == 9 {
			read(i*s, "n2", 0, 400*time.Millisecond)
		}
		read(i*s, "n3", time.Microsecond, 0)
	}
	h, err := history.New(ops)
	require.NoError(t, err)
	return &record.Run{Target: "raft", Nodes: []string{"n1", "n2", "n3"}, History: h}
}

func TestClocksAreTold(t *testing.T) {
	r := skewed(t)
	require.Equal(t, "n1 wall −30 s; n2 wall +300 ms, monotonic +400 ms; n3 right throughout (25 readings)", clockWords(r))
	var b bytes.Buffer
	require.NoError(t, Text(&b, r, false))
	require.Contains(t, b.String(), "clocks: n1 wall −30 s;")
	require.Empty(t, clockWords(&record.Run{}))
	require.Empty(t, clockWords(pingPong(t)), "nobody asked for the time")
}

func TestClocksAreDrawn(t *testing.T) {
	p := paint(Trace(skewed(t)), 1000)
	shapes := p.shapes.String()
	require.Equal(t, 2, strings.Count(shapes, `class="clock wall"`), "a clock that is right has no lane")
	require.Contains(t, p.fixed.String(), "n3: right throughout")
	require.Contains(t, p.fixed.String(), ">−30 s</text>")
	// n1 falls upright at 3 s, from the line of no error to the bottom of its lane, and rises at 6 s.
	require.Contains(t, shapes, "M0 5h0L1000 5L2000 5H3000L3000 39L4000 39L5000 39H6000L6000 5")
	// n2 rises straight, then is not there, and is right again: its monotonic clock keeps what it has gained.
	require.Contains(t, shapes, "M0 39h0L1000 30.5L2000 22L3000 13.5M9000 39h0")
	require.Contains(t, shapes, "M0 39h0L1000 30.5L2000 22L3000 13.5M9000 5h0")
	var said []string
	for _, h := range p.hovers {
		for _, it := range h.Items {
			said = append(said, strings.Join(it.Lines, ", "))
		}
	}
	require.Contains(t, said, "n1: wall clock −30 s, monotonic clock 0")
}

func TestErrorsOfClocksInWords(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0": 9 * time.Microsecond, "+15 µs": 15 * time.Microsecond, "−1.5 ms": -1500 * time.Microsecond, "+30 s": 30 * time.Second,
		"+1.47 s": 1470 * time.Millisecond, "−60 min": -time.Hour, "+36.5 h": 36*time.Hour + 30*time.Minute, "+90 s": 90 * time.Second,
	} {
		require.Equal(t, want, offsetWords(d))
	}
}
