package cli

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/internal/testlong"
)

// A majority of the voters is dead, and three of five members are up: nobody leads, and nobody is accused of that.
func TestLearnersOfEtcdMakeNoMajority(t *testing.T) {
	testlong.Only(t)
	decided := map[string]string{"single-leader-per-term": "valid", "quorum": "valid", "stays-up": "valid"}
	r := shows(t, func(r *result) string { return r.other(t, decided) }, "testdata/two_voters_dead.yaml",
		"--target", "etcd", "--opt", "voters=3", "--nodes", "5", "--seed", "1", "--time", "45s")
	require.NotEqual(t, 1, r.Status)
	require.Equal(t, []string{"n1", "n2", "n3"}, stored(t, r).Setup().Voting)
}
