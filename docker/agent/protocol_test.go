package agent

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

func TestLine(t *testing.T) {
	var b bytes.Buffer
	want := Request{ID: 7, Apply: &Apply{
		Changes: history.ChangesOf(history.Link{From: "n1", To: "n2", LinkState: history.LinkState{Cut: true}}, history.CPU{Node: "n1", Share: 0.5}),
		Signals: []Signal{{Node: "n1", Kind: Kill}},
	}}
	require.NoError(t, WriteLine(&b, want))
	b.WriteString("and what follows")
	var got Request
	require.NoError(t, ReadLine(&b, &got))
	require.Equal(t, want, got)
	require.Equal(t, "and what follows", b.String(), "not a byte more may be read")

	require.ErrorIs(t, ReadLine(strings.NewReader("{"), &got), io.EOF, "a line without its end")
	require.Error(t, ReadLine(strings.NewReader("{\n"), &got))
	require.ErrorContains(t, ReadLine(strings.NewReader(strings.Repeat(" ", maxLine+2)), &got), "line too long")
}

// The longest line is what the most nodes that a run may have, targets.MaxNodes, send each other over many connections.
func TestTheLongestLine(t *testing.T) {
	const most = math.MaxUint64
	link := Traffic{
		From: "node-98", To: "node-99", Left: Count{most, most}, Came: Count{most, most},
		Link: history.LinkState{
			Cut: true, Loss: 1. / 3, Delay: math.MaxInt64, Jitter: math.MaxInt64, Duplicate: 1. / 3, Reorder: 1. / 3, Rate: math.MaxInt64, Reset: true, Picked: true,
		},
	}
	link.Connections = slices.Repeat([]Connection{{65535, 65535}}, 40)
	want := Reply{ID: most, Traffic: slices.Repeat([]Traffic{link}, 99*98)}
	var b bytes.Buffer
	require.NoError(t, WriteLine(&b, want))
	lines := Lines(&b)
	require.True(t, lines.Scan(), "%v", lines.Err())
	var got Reply
	require.NoError(t, json.Unmarshal(lines.Bytes(), &got))
	require.Equal(t, want, got)

	for length, fits := range map[int]bool{maxLine: true, maxLine + 1: false} {
		text := strings.Repeat("x", length-2) // and its quotes
		if err := WriteLine(&b, text); !fits {
			require.ErrorIs(t, err, errTooLong)
			require.Zero(t, b.Len())
			continue
		}
		lines := Lines(&b)
		require.True(t, lines.Scan(), "%v", lines.Err())
		require.Len(t, lines.Bytes(), length)
		b.Reset()
	}
}

func TestMeans(t *testing.T) {
	bad := []history.LinkState{
		{Cut: true, Loss: 0.1}, {Delay: time.Second}, {Jitter: time.Second}, {Duplicate: 0.1}, {Reorder: 0.1}, {Rate: 1}, {Reset: true},
	}
	all := Capabilities{}
	none := Capabilities{Missing: map[string]string{loses: "why", delays: "why", duplicates: "why", resets: "why"}}
	for _, s := range bad {
		require.NoError(t, all.Supports(s), "%+v", s)
		require.ErrorContains(t, none.Supports(s), "this kernel cannot", "%+v", s)
	}
	require.NoError(t, none.Supports(history.LinkState{}))
	require.NoError(t, none.Supports(history.LinkState{Cut: true}))
}
