package shrink

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/nemesis"
)

func TestStepsOfASignature(t *testing.T) {
	const silence = 100 * time.Millisecond
	isolate := nemesis.Step{At: time.Second, Fault: "isolate", Nodes: []string{"n3"}, For: 2 * silence}
	kill := nemesis.Step{At: time.Second + 5*silence, Fault: "kill", Nodes: []string{"leader"}}
	require.Equal(t, "isolate one for 1 to 4 silences, then kill leader 4 to 16 silences later", steps(nemesis.Schedule{isolate, kill}, silence))
	require.Equal(t, "no fault", steps(nil, silence))
	for name, same := range map[string]func(*nemesis.Step){
		"a little later":   func(s *nemesis.Step) { s.At += silence / 10 },
		"a little longer":  func(s *nemesis.Step) { s.For += silence / 2 },
		"another node":     func(s *nemesis.Step) { s.Nodes = []string{"n1"} },
		"told in silences": func(s *nemesis.Step) { s.For, s.ForTimes = 0, 2.5 },
	} {
		other := isolate
		same(&other)
		require.Equal(t, steps(nemesis.Schedule{isolate, kill}, silence), steps(nemesis.Schedule{other, kill}, silence), name)
	}
	for name, differs := range map[string]func(*nemesis.Step){
		"another fault": func(s *nemesis.Step) { s.Fault = "pause" },
		"another role":  func(s *nemesis.Step) { s.Nodes = []string{"follower"} },
		"for good":      func(s *nemesis.Step) { s.For = 0 },
		"much longer":   func(s *nemesis.Step) { s.For = 10 * silence },
		"with a cue":    func(s *nemesis.Step) { s.After = nemesis.Elected },
	} {
		other := kill
		other.For = 2 * silence
		differs(&other)
		first := kill
		first.For = 2 * silence
		require.NotEqual(t, steps(nemesis.Schedule{isolate, first}, silence), steps(nemesis.Schedule{isolate, other}, silence), name)
	}
}

// TestSignatureTellsEvents has faults that wait for events, and those of parts of nodes: what they wait for, and which part, tell
// findings apart.
func TestSignatureTellsEvents(t *testing.T) {
	step := func(fault, aim string, with map[string]string) string {
		return steps(nemesis.Schedule{{Fault: fault, Nodes: []string{aim}, With: with}}, time.Second)
	}
	lost := func(kind, nth string) string {
		return step("lose-message", "leader", map[string]string{"kind": kind, "nth": nth})
	}
	require.Equal(t, "lose-message leader kind=Vote", lost("Vote", "1"))
	require.NotEqual(t, lost("Vote", "1"), lost("Append", "1"))
	require.Equal(t, lost("Vote", "1"), lost("Vote", "2"))
	on := func(what string) string { return step("crash-within", "all", map[string]string{"on": what}) }
	require.NotEqual(t, on("send"), on("lead"))
	require.Equal(t, "isolate leader", step("isolate", "leader", map[string]string{"kind": "of no event"}))
	require.Equal(t, "kill leader/agent", step("kill", "leader/agent", nil))
	require.Equal(t, "kill one/agent", step("kill", "n2/agent", nil))
	require.Equal(t, "isolate one", step("isolate", "n1,n2", nil))
}
