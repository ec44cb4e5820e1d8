package nemesis

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
	"recount/internal/option"
)

// What follows, up to the test, is all that a further dimension takes besides a cluster that can do it: a state, and the
// fault that changes it. This one is made up: by how much a node lacks power.
type power struct {
	Node string  `json:"node"`
	Less float64 `json:"less,omitempty"`
}

func (p power) Key() history.Key              { return history.Key{Dimension: "power", Node: p.Node} }
func (p power) Healthy() history.State        { return power{Node: p.Node} }
func (p power) Same(other history.State) bool { return p == other }
func (p power) Name() string                  { return "the power of " + p.Node }
func (p power) Words() string                 { return fmt.Sprintf("%.0f%% less", 100*p.Less) }
func (p power) Merge(other history.State) history.State {
	return power{p.Node, 1 - (1-p.Less)*(1-other.(power).Less)}
}

func init() { history.RegisterDimension[power]("power") }

var dim = &Fault{
	Name:    "dim",
	About:   "a node gets less power",
	Aims:    []Aim{{"the node", "leader"}},
	Options: []option.Option{{Name: "by", Kind: option.Percent, Default: "50%", About: "how much less"}},
	Shape: func(s Scene) Shape {
		return constant(history.ChangesOf(power{s.Aims[0][0], s.Options.Percent("by")}))
	},
}

// wired is a cluster whose nodes can lack power.
type wired struct {
	Cluster
	states history.States
}

func (w *wired) Can(history.Changes) error { return nil }

func (w *wired) Apply(c history.Changes, done func(history.Effect)) {
	w.states = w.states.With(c)
	done(history.Effect{Seen: history.OK})
}

func TestAFurtherDimensionIsAFile(t *testing.T) {
	registry[dim.Name] = dim
	t.Cleanup(func() { delete(registry, dim.Name) })
	var text bytes.Buffer
	s := newScene(t, 3)
	s.r = history.NewRecorder(&text, 0)
	s.s = NewViews(s.c.Nodes(), s.r)
	c := &wired{Cluster: s.c}
	s.n = New(c, s.r, s.s, rand.New(rand.NewPCG(1, 2)))
	s.sight("n1", history.Leader, 1, "n1")
	s.settled()

	// Injected, together with itself and with another; compared; healed, one after the other.
	s.n.Start(Schedule{
		{Fault: "dim", For: 3 * time.Second},
		{At: time.Second, Fault: "dim", For: time.Second, With: map[string]string{"by": "20%"}},
		{At: time.Second, Fault: "pause", Nodes: []string{"n2"}, For: time.Second},
	})
	at := func(d time.Duration, want ...history.State) {
		t.Helper()
		s.run(d)
		require.Equal(t, history.ChangesOf(want...), s.n.Holds())
		require.Equal(t, s.n.Holds(), c.states.Changes())
		require.Empty(t, Compare(s.n.Holds(), c.states.Changes(), nil))
	}
	at(500*time.Millisecond, power{"n1", 0.5})
	require.Equal(t, "the power of n1 is 0% less, and should be 50% less", Compare(s.n.Holds(), history.Changes{}, nil))
	at(time.Second, history.Proc{Node: "n2", State: history.Paused}, power{"n1", 0.6})
	at(time.Second, power{"n1", 0.5})
	at(time.Second)

	// Recorded, read again, and done again.
	h, err := history.Parse(&text)
	require.NoError(t, err)
	actions, err := ActionsOf(h)
	require.NoError(t, err)
	require.Len(t, actions, 6)
	require.Contains(t, string(h.Ops[2].AppendJSON(nil)), `"more":{"power":[{"node":"n1","less":0.5}]}`)
	require.NoError(t, CheckActions(actions, []string{"n1", "n2", "n3"}))
	require.ErrorContains(t, CheckActions(actions, []string{"n2", "n3"}), `unknown node "n1"`)
	second := newScene(t, 3)
	again := &wired{Cluster: second.c}
	second.n = New(again, second.r, second.s, rand.New(rand.NewPCG(3, 4)))
	second.n.Repeat(actions)
	second.run(1500 * time.Millisecond)
	require.Equal(t, history.ChangesOf(history.Proc{Node: "n2", State: history.Paused}, power{"n1", 0.6}), again.states.Changes())
	second.run(2 * time.Second)
	require.Empty(t, again.states)

	// A cluster that cannot do it says so, and a history of a dimension that nobody knows is refused.
	require.ErrorContains(t, s.c.Can(history.ChangesOf(power{"n1", 0.5})), "power")
	_, err = history.Parse(bytes.NewBufferString(`{"index":0,"time":0,"process":"nemesis","type":"invoke","f":"inject",` +
		`"value":{"id":1,"name":"x","more":{"gpu":[{"node":"n1"}]}}}` + "\n"))
	require.ErrorContains(t, err, `unknown dimension "gpu"`)
}
