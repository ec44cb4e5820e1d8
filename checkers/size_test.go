package checkers

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// TestSizeCounts adds many ops of what is kept of a long history: the size must grow with them.
func TestSizeCounts(t *testing.T) {
	const many = 10_000
	nodes := history.Op{Process: history.Harness, F: history.Begin, Type: history.OK, Setup: &history.Setup{Nodes: []string{"n1"}}}
	put := func(k int, kind history.Type) history.Op {
		return history.Op{
			Process: 1, Type: kind, F: history.Put, Node: "n1", Time: time.Duration(k) * time.Second,
			Reg: &history.Register{Key: "x", Value: strconv.Itoa(k)},
		}
	}
	for name, ops := range map[string][]history.Op{
		"held back while a fault begins": {{Process: history.Nemesis, Type: history.Invoke, F: history.Inject, Fault: &history.Fault{Name: "pause"}}},
		"writes of unknown outcome":      nil,
	} {
		j := BeginSome([]string{"progress"})
		index := 0
		add := func(op history.Op) {
			op.Index = index
			index++
			j.Add(&op)
		}
		add(nodes)
		for _, op := range ops {
			add(op)
		}
		before := j.Size()
		for k := range many {
			add(put(k, history.Invoke))
			add(put(k, history.Info))
		}
		require.Greater(t, j.Size()-before, int64(many*32), name)
	}
}
