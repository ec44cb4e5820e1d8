package agent

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

func TestLine(t *testing.T) {
	var b bytes.Buffer
	want := Request{ID: 7, Apply: &Apply{
		Links:   []history.Link{{From: "n1", To: "n2", LinkState: history.LinkState{Cut: true}}},
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
