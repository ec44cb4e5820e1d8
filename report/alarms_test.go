package report

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/history"
)

func TestAlarmsAreDrawnWhereTheyWereRaised(t *testing.T) {
	h, err := history.New([]history.Op{
		{Process: history.Harness, Type: history.OK, F: history.Begin, Setup: &history.Setup{Nodes: []string{"n1", "n2"}, Alarms: true}},
		{Time: time.Second, Process: history.Harness, Type: history.Info, F: history.Alarm, Node: "n2", Error: "assertion failed: a < b"},
		{Time: 2 * time.Second, Process: history.Harness, Type: history.OK, F: history.End},
	})
	require.NoError(t, err)
	r := &record.Run{Nodes: []string{"n1", "n2"}, History: h}
	require.Equal(t, [][]alarm{nil, {{time.Second, "assertion failed: a < b"}}}, [][]alarm{Trace(r).Nodes[0].Alarms, Trace(r).Nodes[1].Alarms})
	var b bytes.Buffer
	require.NoError(t, SVG(&b, r))
	require.Contains(t, b.String(), `class="alarm"`)
	require.Contains(t, b.String(), "alarm in its log")
	require.Equal(t, "raised an alarm: assertion failed: a < b", Words(&h.Ops[1]))
}
