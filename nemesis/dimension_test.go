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
// fault that changes it. This one is made up: how much of a processor a node is kept from.
type cpu struct {
	Node string  `json:"node"`
	Less float64 `json:"less,omitempty"`
}

func (c cpu) Key() history.Key              { return history.Key{Dimension: "cpu", Node: c.Node} }
func (c cpu) Healthy() history.State        { return cpu{Node: c.Node} }
func (c cpu) Same(other history.State) bool { return c == other }
func (c cpu) Name() string                  { return "the processor of " + c.Node }
func (c cpu) Words() string                 { return fmt.Sprintf("%.0f%% less", 100*c.Less) }
func (c cpu) Merge(other history.State) history.State {
	return cpu{c.Node, 1 - (1-c.Less)*(1-other.(cpu).Less)}
}

func init() { history.RegisterDimension[cpu]("cpu") }

var starve = &Fault{
	Name:    "starve",
	About:   "a node gets less of its processor",
	Aims:    []Aim{{"the node", "leader"}},
	Options: []option.Option{{Name: "by", Kind: option.Percent, Default: "50%", About: "how much less"}},
	Shape: func(s Scene) Shape {
		return constant(history.ChangesOf(cpu{s.Aims[0][0], s.Options.Percent("by")}))
	},
}

// loaded is a cluster whose processors can be kept from its nodes.
type loaded struct {
	Cluster
	states history.States
}

func (l *loaded) Can(history.Changes) error { return nil }

func (l *loaded) Apply(c history.Changes, done func(history.Effect)) {
	l.states = l.states.With(c)
	done(history.Effect{Seen: history.OK})
}

func TestAFurtherDimensionIsAFile(t *testing.T) {
	registry[starve.Name] = starve
	t.Cleanup(func() { delete(registry, starve.Name) })
	var text bytes.Buffer
	s := newScene(t, 3)
	s.r = history.NewRecorder(&text, 0)
	s.s = NewViews(s.c.Nodes(), s.r)
	c := &loaded{Cluster: s.c}
	s.n = New(c, s.r, s.s, rand.New(rand.NewPCG(1, 2)))
	s.sight("n1", history.Leader, 1, "n1")
	s.settled()

	// Injected, together with itself and with another; compared; healed, one after the other.
	s.n.Start(Schedule{
		{Fault: "starve", For: 3 * time.Second},
		{At: time.Second, Fault: "starve", For: time.Second, With: map[string]string{"by": "20%"}},
		{At: time.Second, Fault: "pause", Nodes: []string{"n2"}, For: time.Second},
	})
	at := func(d time.Duration, want ...history.State) {
		t.Helper()
		s.run(d)
		require.Equal(t, history.ChangesOf(want...), s.n.Holds())
		require.Equal(t, s.n.Holds(), c.states.Changes())
		require.Empty(t, Compare(s.n.Holds(), c.states.Changes(), nil))
	}
	at(500*time.Millisecond, cpu{"n1", 0.5})
	require.Equal(t, "the processor of n1 is 0% less, and should be 50% less", Compare(s.n.Holds(), history.Changes{}, nil))
	at(time.Second, history.Proc{Node: "n2", State: history.Paused}, cpu{"n1", 0.6})
	at(time.Second, cpu{"n1", 0.5})
	at(time.Second)

	// Recorded, read again, and done again.
	h, err := history.Parse(&text)
	require.NoError(t, err)
	actions, err := ActionsOf(h)
	require.NoError(t, err)
	require.Len(t, actions, 6)
	require.Contains(t, string(h.Ops[2].AppendJSON(nil)), `"more":{"cpu":[{"node":"n1","less":0.5}]}`)
	require.NoError(t, CheckActions(actions, []string{"n1", "n2", "n3"}))
	require.ErrorContains(t, CheckActions(actions, []string{"n2", "n3"}), `unknown node "n1"`)
	second := newScene(t, 3)
	again := &loaded{Cluster: second.c}
	second.n = New(again, second.r, second.s, rand.New(rand.NewPCG(3, 4)))
	second.n.Repeat(actions)
	second.run(1500 * time.Millisecond)
	require.Equal(t, history.ChangesOf(history.Proc{Node: "n2", State: history.Paused}, cpu{"n1", 0.6}), again.states.Changes())
	second.run(2 * time.Second)
	require.Empty(t, again.states)

	// A cluster that cannot do it says so, and a history of a dimension that nobody knows is refused.
	require.ErrorContains(t, s.c.Can(history.ChangesOf(cpu{"n1", 0.5})), "cpu")
	_, err = history.Parse(bytes.NewBufferString(`{"index":0,"time":0,"process":"nemesis","type":"invoke","f":"inject",` +
		`"value":{"id":1,"name":"x","more":{"gpu":[{"node":"n1"}]}}}` + "\n"))
	require.ErrorContains(t, err, `unknown dimension "gpu"`)
}
