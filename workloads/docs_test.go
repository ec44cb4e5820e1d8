package workloads

import (
	"context"
	"flag"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/history"
	"recount/sim"
)

var update = flag.Bool("update", false, "write the workloads into docs/workloads.md")

var page = filepath.Join("..", "docs", "workloads.md")

// The page lists what is registered.
func TestDocsAreWrittenFromTheRegistry(t *testing.T) {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(text), "<!-- workloads -->\n")
	require.True(t, found)
	_, after, found := strings.Cut(rest, "<!-- end -->")
	require.True(t, found)
	var b strings.Builder
	b.WriteString("\n| workload | what clients do | ops | serves |\n|---|---|---|---|\n")
	for _, w := range All() {
		var ops []string
		for _, f := range w.Ops {
			ops = append(ops, string(f))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", w.Name, w.About, strings.Join(ops, ", "), strings.Join(w.Serves, ", "))
	}
	want := before + "<!-- workloads -->\n" + b.String() + "\n<!-- end -->" + after
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(text), "go test ./workloads -run Docs -update")
}

// The workload that the page shows how to add, between these two lines, is the one that is tested here.
// -- begin

// readers has one client read the leader's register, and nobody write it.
var readers = &Workload{
	Name:    "readers",
	About:   "a client reads the register of the node that leads",
	Needs:   election.Put,
	Ops:     []history.F{history.Get},
	Serves:  []string{"linearizable"},
	First:   7, // after the others' clients
	Clients: 1,
	Start: func(s Scene) (stop func()) {
		c := &client{cluster: s.Cluster, recorder: s.Recorder, process: s.First, stride: s.Stride, patience: time.Second}
		return again(s.Cluster, time.Second, func() {
			if n := s.Leader(); n != "" {
				c.give(history.Op{F: history.Get, Node: n}, election.Command{Do: election.Get}, func(history.Type, string) {})
			}
		})
	},
}

// -- end

func TestDocsShowAWorkloadThatWorks(t *testing.T) {
	source, err := os.ReadFile("docs_test.go")
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(source), "// -- begin\n\n")
	shown, _, found := strings.Cut(rest, "\n// -- end\n")
	require.True(t, found)
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(text), shown)
	_, rest, _ = strings.Cut(string(text), "```go\n")
	file, _, _ := strings.Cut(rest, "```")
	formatted, err := format.Source([]byte(file))
	require.NoError(t, err)
	require.Equal(t, string(formatted), file)

	register(readers)
	t.Cleanup(func() { delete(registry, readers.Name) })
	require.Equal(t, []string{"fence", "readers", "register", "updates"}, Serving(""))
	require.Equal(t, []string{"readers", "register"}, Serving("linearizable"))
	require.Equal(t, 8, ClientProcesses(Named([]string{"readers"})))

	c, err := sim.New(sim.Config{Nodes: 2, Seed: 1, New: func(election.Env) election.Node { return keeper{} }})
	require.NoError(t, err)
	r := history.NewRecorder(nil, 0)
	stop := readers.Start(Scene{Cluster: c, Recorder: r, Nodes: c.Nodes(), Leader: func() string { return "n2" }, First: 9, Stride: 20})
	c.Start()
	require.NoError(t, c.Run(context.Background(), 3500*time.Millisecond))
	stop()
	h, err := r.History()
	require.NoError(t, err)
	require.Len(t, h.Ops, 6)
	for i, op := range h.Ops {
		require.Equal(t, history.Process(9), op.Process)
		require.Equal(t, history.Get, op.F)
		if i%2 == 1 {
			require.Equal(t, history.OK, op.Type)
			require.Equal(t, "7", op.Reg.Value)
		}
	}
}

// keeper is a node whose register is 7.
type keeper struct{}

func (keeper) Start()                                {}
func (keeper) Receive(election.ID, election.Message) {}
func (keeper) Expire(election.Timer)                 {}
func (keeper) Status() election.Status               { return election.Status{} }
func (keeper) Put(uint64, func()) bool               { return false }
func (keeper) Get(done func(value uint64)) bool {
	done(7)
	return true
}

func TestWorkloadsDoNotOverlap(t *testing.T) {
	require.Panics(t, func() { register(&Workload{Name: "fence"}) })
	require.Panics(t, func() { register(&Workload{Name: "greedy", First: 3, Clients: 1}) })
	_, err := Find("fense")
	require.EqualError(t, err, `unknown workload "fense"`)
	require.Equal(t, AcceptStale, WritesOf(Named([]string{"fence", "record"})))
	require.Equal(t, RefuseStale, WritesOf(Named([]string{"fence", "observe"})))
	require.Equal(t, NoWrites, WritesOf(Named([]string{"register"})))
}
