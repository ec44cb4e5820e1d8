package history

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// faults are any: with none and some of all that a fault may have, and with words that take quoting.
func faults() *rapid.Generator[Fault] {
	word := rapid.OneOf(rapid.SampledFrom([]string{"", "n1", "n2", "leader", "<&>", "a \"b\"\\\n\u2028", "ü\x7f\xff"}), rapid.String())
	words := rapid.SliceOfN(word, 0, 3)
	link := rapid.Custom(func(t *rapid.T) Link {
		return Link{
			From: word.Draw(t, "from"), To: word.Draw(t, "to"), Port: rapid.IntRange(0, 2).Draw(t, "port"),
			LinkState: rapid.SampledFrom([]LinkState{
				{}, {Cut: true}, {Loss: 0.3}, {Cut: true, Delay: time.Second}, {Jitter: 1}, {Duplicate: 1e-9}, {Reorder: 1}, {Rate: 5}, {Reset: true}, {Picked: true},
			}).Draw(t, "state"),
		}
	})
	proc := rapid.Custom(func(t *rapid.T) Proc { return Proc{word.Draw(t, "node"), ProcState(word.Draw(t, "state"))} })
	return rapid.Custom(func(t *rapid.T) Fault {
		f := Fault{
			ID: rapid.Int().Draw(t, "id"), Name: word.Draw(t, "name"), After: word.Draw(t, "after"),
			Params: rapid.MapOfN(word, word, 0, 3).Draw(t, "params"), Asked: words.Draw(t, "asked"), Nodes: words.Draw(t, "nodes"),
			Changes: Changes{Links: rapid.SliceOfN(link, 0, 3).Draw(t, "links"), Procs: rapid.SliceOfN(proc, 0, 3).Draw(t, "procs")},
			Spread:  time.Duration(rapid.Int64().Draw(t, "spread")),
			Idle:    word.Draw(t, "idle"),
		}
		if rapid.Bool().Draw(t, "rare") {
			f.Clocks, f.Disks = []Clock{{Node: "n1", Offset: -1, Drift: 0.5}}, []Disk{{Node: "n2", DiskState: DiskState{Full: true}}}
			f.Clients, f.More = []Client{{Node: "n3", Cut: true}}, More{"cpus": []State{CPU{Node: "n1", Share: 0.5}}}
		}
		return f
	})
}

func TestFaultsAreWrittenAsEncodingJSONWritesThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := faults().Draw(t, "fault")
		want, err := json.Marshal(&f)
		require.NoError(t, err)
		require.Equal(t, string(want), string(f.appendJSON(nil)))
	})
}
