package nemesis

import (
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// Where the servers are there for something else, a majority is one of the others.
func TestWordsForServersOfSomethingElse(t *testing.T) {
	s := NewViews([]string{"n1", "n2", "n3", "s1"}, history.NewRecorder(io.Discard, 0))
	s.Stand([]string{"s1"})
	aims, err := s.resolve([]string{"majority", "server"}, "", nil, rand.New(rand.NewPCG(1, 1)))
	require.NoError(t, err)
	require.Len(t, aims[0], 2)
	require.NotContains(t, aims[0], "s1")
	require.Equal(t, []string{"s1"}, aims[1])
}

// Where candidates elect through servers, a majority is one of servers, and nobody follows but candidates.
func TestWordsForServersAndCandidates(t *testing.T) {
	nodes := []string{"n1", "n2", "n3", "s1", "s2", "s3"}
	r := history.NewRecorder(io.Discard, 0)
	s := NewViews(nodes, r)
	s.Serve([]string{"s1", "s2", "s3"})
	for _, n := range nodes[:3] {
		v := history.View{Role: history.Follower, Term: 1, Leader: "n2"}
		if n == "n2" {
			v = history.View{Role: history.Leader, Term: 1, Leader: "n2"}
		}
		require.False(t, s.AllAgree())
		s.see(&history.Op{Type: history.OK, F: history.Observe, Node: n, View: v})
	}
	require.True(t, s.Agreed())
	require.True(t, s.AllAgree(), "servers have no part in it")

	rnd := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		aims, err := s.resolve([]string{"leader", "follower", "server", "servers"}, "", nil, rnd)
		require.NoError(t, err)
		require.Equal(t, []string{"n2"}, aims[0])
		require.Subset(t, []string{"n1", "n3"}, aims[1])
		require.Subset(t, []string{"s1", "s2", "s3"}, aims[2])
		require.Len(t, aims[3], 2)
		require.NotContains(t, aims[3], aims[2][0])
		aims, err = s.resolve([]string{"leader", "followers"}, "", nil, rnd)
		require.NoError(t, err)
		require.Equal(t, [][]string{{"n2"}, {"n1", "n3"}}, aims, "servers are of neither side")
		aims, err = s.resolve([]string{"majority", "minority"}, "", nil, rnd)
		require.NoError(t, err)
		require.Len(t, aims[0], 2)
		require.Len(t, aims[1], 1)
		require.Subset(t, []string{"s1", "s2", "s3"}, append(aims[0], aims[1]...))
	}

	f, err := Find("leader-with-minority")
	require.NoError(t, err)
	shape := f.Shape(Scene{Aims: [][]string{{"n2"}}, All: nodes, Voters: []string{"s1", "s2", "s3"}, Rand: rnd})
	cut := map[string]int{}
	for _, l := range shape.Phases[0].Links {
		cut[l.From]++
	}
	require.Equal(t, 4, cut["n2"], "the leader keeps one server of three, and no other candidate")
}
