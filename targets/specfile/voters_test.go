package specfile

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/internal/hint"
)

// Who votes is known to the templates of nodes, and to the target.
func TestVoters(t *testing.T) {
	const command = `command: ['--voter={{.Voter}}', '--voters={{voters "," "{name}"}}', '--others={{nonvoters "," "{name}"}}']`
	of := func(voters string) *Spec {
		text := strings.Replace(sound, sound[strings.Index(sound, "command:"):strings.Index(sound, "environment:")], command+"\n", 1)
		return parse(t, strings.Replace(text, "on: true}", "on: true, voting: 2}\n"+voters, 1))
	}
	for voters, want := range map[string][2]string{
		"voters: [n1, n3]":                          {"--voters=n1,n3", "--others=n2"},
		`voters: '{{le .ID (int "voting")}}'`:       {"--voters=n1,n2", "--others=n3"},
		`voters: '{{if ne .Name "n1"}}true{{end}}'`: {"--voters=n2,n3", "--others=n1"},
		"": {"--voters=n1,n2,n3", "--others="},
	} {
		s, all := of(voters), members(3)
		c := driver(t, s, nil).Container(all[0], all)
		require.Equal(t, want[:], c.Command[1:], voters)
		require.Equal(t, strings.Contains(want[0], "n1"), c.Command[0] == "--voter=true", voters)
		target := s.Target("mine.yaml")
		require.Equal(t, voters == "", target.Voters == nil)
		if voters != "" {
			o, err := target.Parse(nil)
			require.NoError(t, err)
			ids, err := target.Voters(o, 3)
			require.NoError(t, err)
			require.Len(t, ids, 2, voters)
		}
	}
	target := of(`voters: '{{le .ID (int "voting")}}'`).Target("mine.yaml")
	for given, want := range map[string]string{"0": "true of no node", "two": "no whole number"} {
		o, err := target.Parse(map[string]string{"voting": given})
		require.NoError(t, err)
		_, err = target.Voters(o, 3)
		require.ErrorContains(t, err, want)
		require.NotEmpty(t, hint.Of(err))
	}
	target = of("voters: '{{eq .ID 3}}'").Target("mine.yaml")
	o, err := target.Parse(nil)
	require.NoError(t, err)
	_, err = target.Voters(o, 1)
	require.EqualError(t, err, "spec: voters: the template says true of no node, of 1")
	require.Contains(t, hint.Of(err), "take --nodes 3 or more")
	target = of("voters: [n1, n7]").Target("mine.yaml")
	o, err = target.Parse(nil)
	require.NoError(t, err)
	_, err = target.Voters(o, 3)
	require.EqualError(t, err, "spec: voters: n7 is none of 3 nodes")
	require.Contains(t, hint.Of(err), "--nodes 7")
	ids, err := target.Voters(o, 7)
	require.NoError(t, err)
	require.Equal(t, []election.ID{1, 7}, ids)
}
