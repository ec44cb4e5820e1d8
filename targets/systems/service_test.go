package systems

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
)

func TestCandidatesTellTheirViews(t *testing.T) {
	numbered, not := &Service{Numbered: true}, &Service{}
	for line, want := range map[string]election.Status{
		`view {"leads":true,"token":7,"leader":"n2"}`:  {Role: election.Leader, Term: 7, Leader: 2},
		`view {"leads":false,"token":7,"leader":"n2"}`: {Term: 7, Leader: 2},
		`view {"leads":false,"token":7,"leader":""}`:   {Term: 7},
		`view {"leads":false,"token":0,"leader":""}`:   {Role: election.Unknown},
	} {
		s, ok := numbered.ReadLog(1, line)
		require.True(t, ok)
		require.Equal(t, want, s)
	}
	s, ok := not.ReadLog(1, `view {"leads":false,"token":0,"leader":""}`)
	require.True(t, ok)
	require.Equal(t, election.Status{}, s, "a lock without numbers: who does not lead follows")
	for _, line := range []string{"", "view", "view {", `view {"leader":"s1"}`, `view {"leader":"n"}`, `view {"leader":"n01"}`} {
		_, ok := numbered.ReadLog(1, line)
		require.False(t, ok, line)
	}
}
