package report

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/history"
)

// TestHeaderSaysHowLongTheMachineStoodStill has stalls that overlap, which are told where they are more than a twentieth of the run.
func TestHeaderSaysHowLongTheMachineStoodStill(t *testing.T) {
	for stalled, said := range map[time.Duration]string{10 * time.Second: "the machine stood still for 11.00 s", time.Second: ""} {
		stall := func(at, d time.Duration) history.Op {
			return history.Op{Time: at, Process: history.Harness, Type: history.Info, F: history.Stall, Access: history.Access{Value: int64(d)}}
		}
		h, err := history.New([]history.Op{
			{Process: history.Harness, Type: history.OK, F: history.Begin, Setup: &history.Setup{}},
			stall(20*time.Second, stalled/2), stall(21*time.Second, stalled+time.Second),
			{Time: 100 * time.Second, Process: history.Harness, Type: history.OK, F: history.End},
		})
		require.NoError(t, err)
		r := &record.Run{History: h}
		var b bytes.Buffer
		require.NoError(t, Text(&b, r, false))
		if said == "" {
			require.NotContains(t, b.String(), "stood still")
			require.NotContains(t, fmt.Sprint(pageFacts(r)), "stood still")
			continue
		}
		require.Contains(t, b.String(), "2 ops in 100.00 s; "+said)
		require.Contains(t, pageFacts(r), [2]string{"the machine stood still", "for 11.00 s"})
	}
}
