package history

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStrangers(t *testing.T) {
	told := func(s *Setup, faults ...Fault) []string {
		f := Frame{Ops: []Op{{F: Begin, Setup: s}}}
		for i := range faults {
			f.Ops = append(f.Ops, Op{F: Inject, Process: Nemesis, Fault: &faults[i]}, Op{F: Inject, Process: Nemesis})
		}
		return f.Strangers()
	}
	nodes := &Setup{Nodes: []string{"n1", "n2"}}
	down := func(n string) Fault { return Fault{Changes: ChangesOf(Proc{n, Down})} }
	require.Empty(t, told(nodes, down("n1"), Fault{Nodes: []string{"n2", "n1/agent"}}))
	require.Equal(t, []string{"m", "o"}, told(nodes, down("m"), Fault{Changes: ChangesOf(Link{From: "n1", To: "o"}, Link{From: "m", To: "n2"})}, down("m")))
	require.Equal(t, []string{"x"}, told(nodes, Fault{Nodes: []string{"x/agent"}}))
	require.Empty(t, told(nodes, Fault{Changes: ChangesOf(Member{Node: "n3", As: Voter})}, down("n3")), "it was added")
	require.Empty(t, told(&Setup{}, down("m")), "nobody knows the nodes")
	require.Empty(t, told(&Setup{Nodes: []string{"n1"}, Model: "leader"}, down("m")))
	require.Empty(t, told(nil, down("m")))
}
