package nemesis

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

func TestWhatIsBelievedIsComparedWithWhatIs(t *testing.T) {
	type changes = history.Changes
	ended := map[string]bool{"n9": true}
	lossy := func(p float64) changes {
		return changes{Links: []history.Link{{From: "n1", To: "n2", LinkState: history.LinkState{Loss: p}}}}
	}
	for _, c := range []struct {
		believed, real changes
		want           string
	}{
		{changes{}, changes{}, ""},
		{changes{Links: cut("n1>n2", "n2>n1")}, changes{Links: cut("n2>n1", "n1>n2")}, ""},
		{changes{Links: cut("n1>n2")}, changes{}, "link n1→n2 is whole, and should be cut"},
		{changes{}, changes{Links: cut("n1>n2")}, "link n1→n2 is cut, and should be whole"},
		{lossy(0.3333333), lossy(0.333333), ""},
		{lossy(0.3), lossy(0.4), "link n1→n2 is 40% lost, and should be 30% lost"},
		{procs([]string{"n1", "n2"}, history.Crashed), procs([]string{"n2", "n1"}, history.Down), ""},
		{procs([]string{"n1"}, history.Paused), procs([]string{"n1"}, history.Down), "n1 is down, and should be paused"},
		{changes{}, procs([]string{"n1"}, history.Down), "n1 is down, and should be up"},
		{changes{}, procs([]string{"n1"}, ""), "n1 is partly up, and should be up"},
		{changes{}, procs([]string{"n9"}, history.Down), ""},
		{skewed([]string{"n1"}, time.Second, 0.1), skewed([]string{"n1"}, time.Second, 0.1), ""},
		{changes{}, skewed([]string{"n1"}, time.Second, 0), "the clock of n1 is wrong by 1s and 0, and should be right"},
		{changes{Disks: []history.Disk{{Node: "n1", DiskState: history.DiskState{Full: true}}}}, changes{}, "the disk of n1 is healthy, and should be full"},
	} {
		got := Compare(c.believed, c.real, ended)
		if c.want == "" {
			require.Empty(t, got)
		} else {
			require.Contains(t, got, c.want)
		}
	}
}
