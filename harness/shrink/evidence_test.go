package shrink

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// The evidence is what a story is told for, also where it ends after the violation began, or changes nothing.
func TestAStoryHasTheEvidence(t *testing.T) {
	s := &tale{T: t}
	s.says("n1", history.Leader, 1)
	s.says("n2", history.Follower, 1)
	again := s.op(history.Op{F: history.Announce, Node: "n2", View: history.View{Role: history.Follower, Leader: "n1"}})
	applied := s.op(history.Op{F: history.Apply, Node: "n3", Value: &history.Update{Term: 2, Counter: 7, From: "n1"}})
	s.op(history.Op{Process: 3, F: history.Get, Type: history.Invoke, Reg: &history.Register{Key: "x"}})
	read := s.op(history.Op{Process: 3, F: history.Get, Reg: &history.Register{Key: "x", Value: "4"}})
	s.op(history.Op{Process: 1, F: history.Write, Type: history.Invoke, Node: "n1", Access: history.Access{Token: 1}})
	begun := s.ops[len(s.ops)-1].Time
	wrote := s.op(history.Op{Process: 1, F: history.Write, Node: "n1", Access: history.Access{Token: 1}})
	s.says("n3", history.Leader, 2)
	require.Equal(t, `    0.010s n1 leads in term 1
    0.030s n2 says that it follows n1 in term 0
    0.040s n3 applies update 7 of term 2, from n1
    0.060s client 3 reads x "4": ok
    0.080s n1 writes with token 1: ok
`, Story(s.history(), verdict(0, begun, again, applied, read, wrote)))
}

// Where no term is told there is none to tell of: not in an election that has none, and not of a follower where terms are its leaders'
// alone. Elsewhere a 0 is what the node says.
func TestAStoryNamesNoTermThatNobodyTold(t *testing.T) {
	for _, c := range []struct {
		setup history.Setup
		want  string
	}{
		{history.Setup{NoTerms: true}, "n1 says that it leads\nn2 says that it follows n1\n"},
		{history.Setup{Tokens: true}, "n1 says that it leads in term 0\nn2 says that it follows n1\n"},
		{history.Setup{}, "n1 says that it leads in term 0\nn2 says that it follows n1 in term 0\n"},
	} {
		s := &tale{T: t}
		s.op(history.Op{F: history.Begin, Setup: &c.setup})
		var evidence []int
		for range 2 {
			evidence = []int{
				s.op(history.Op{F: history.Announce, Node: "n1", View: history.View{Role: history.Leader}}),
				s.op(history.Op{F: history.Announce, Node: "n2", View: history.View{Role: history.Follower, Leader: "n1"}}),
			}
		}
		var told strings.Builder
		for line := range strings.Lines(Story(s.history(), verdict(0, 0, evidence...))) {
			if _, words, says := strings.Cut(line, "s "); says && strings.Contains(words, "says that") {
				told.WriteString(words)
			}
		}
		require.Equal(t, c.want, told.String())
	}
}
