package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/internal/testlong"
	"recount/recounttest"
)

func TestMain(m *testing.M) { recounttest.Main(m) }

func TestTheStoreRefusesAStaleUpdate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state")
	s := newStore(file)
	require.Equal(t, "n1 1", s.execute("take n1 1h"))
	require.Equal(t, "n1 1", s.execute("take n2 1h"))
	require.Equal(t, "rows: 1", s.execute("update row set value=7, token=2 where token<=2"))
	require.Equal(t, "rows: 0", s.execute("update row set value=8, token=1 where token<=1"))
	require.Equal(t, int64(7), newStore(file).Value, "it lasts")
	require.Equal(t, "rows: 1", s.execute("update row set value=8, token=1"))
}

// A leader that stood still updates the row once more with its old token.
func TestUpdatesOfAPausedLeader(t *testing.T) {
	testlong.Only(t)
	recounttest.Run(t, "election.yaml", "paused.yaml", recounttest.OnDocker(), recounttest.Attempts(3),
		recounttest.Set("fence", "false"), recounttest.Expect("fencing", checkers.Invalid))
}

func TestUpdatesOfAPausedLeaderThatAreFenced(t *testing.T) {
	testlong.Only(t)
	recounttest.Run(t, "election.yaml", "paused.yaml", recounttest.OnDocker(), recounttest.Attempts(3),
		recounttest.Expect("fencing", checkers.Valid))
}
