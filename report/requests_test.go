package report

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/history"
)

// requested is a run of 24 s in which a client asked once a second from 1 s on: what took 100 ms, and every fourth time failed, or had no end.
func requested(t *testing.T) *record.Run {
	ops := []history.Op{{Process: history.Harness, Type: history.OK, F: history.Begin, Setup: &history.Setup{Nodes: []string{"n1"}}}}
	for i := range 20 {
		op := history.Op{Time: time.Duration(i+1) * time.Second, Process: history.Process(i), Type: history.Invoke, F: history.Put, Reg: &history.Register{Value: "1"}}
		ops = append(ops, op)
		op.Time += 100 * time.Millisecond
		switch i % 4 {
		case 0:
			continue
		case 1:
			op.Type, op.Error = history.Fail, "no leader"
		default:
			op.Type = history.OK
		}
		ops = append(ops, op)
	}
	ops = append(ops, history.Op{Time: 24 * time.Second, Process: history.Harness, Type: history.OK, F: history.End})
	h, err := history.New(ops)
	require.NoError(t, err)
	return &record.Run{Nodes: []string{"n1"}, History: h}
}

func TestWhatClientsGotIsCountedByWhenItEnded(t *testing.T) {
	tl := Trace(requested(t))
	require.Len(t, tl.Requests, 20)
	all := tl.stretches()
	require.Len(t, all, mostStretches+1)
	done, failed, open := 0, 0, 0
	for i := range all {
		done, failed, open = done+all[i].OK, failed+all[i].Failed, open+all[i].Open
		require.Len(t, all[i].Took, all[i].OK)
	}
	require.Equal(t, []int{10, 5, 5}, []int{done, failed, open})
	third := all[31] // 3.1 to 3.2 s
	require.Equal(t, 1, third.OK)
	require.Equal(t, []string{"clients, 3.10 s to 3.20 s: 1 done, 0 refused or failed, 0 of which nobody knows", "answers took 100 ms in the median, 100 ms at most"}, third.words())
	require.Equal(t, 1, all[10].Open, "what never ended is told where it began")
}

func TestThePictureShowsWhatClientsGot(t *testing.T) {
	var with, without bytes.Buffer
	r := requested(t)
	require.NoError(t, SVG(&with, r))
	for _, shown := range []string{"clients: operations a second", `class="asked done"`, `class="asked failed"`, `class="asked open"`, `class="took median"`, ">10/s<", ">100 ms<"} {
		require.Contains(t, with.String(), shown)
	}
	ops := r.History.Ops
	h, err := history.New([]history.Op{ops[0], ops[len(ops)-1]})
	require.NoError(t, err)
	require.NoError(t, SVG(&without, &record.Run{Nodes: []string{"n1"}, History: h}))
	require.NotContains(t, without.String(), "clients")
	require.NotContains(t, without.String(), `class="asked`)
}
