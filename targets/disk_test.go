package targets_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/history"
	"recount/targets"
	_ "recount/targets/builtin"
)

func TestPromisesRestOnTheDisksThatKeepSomething(t *testing.T) {
	did := func(node string, s history.DiskState) history.Changes {
		return history.Changes{Disks: []history.Disk{{Node: node, DiskState: s}}}
	}
	for _, c := range []struct {
		target, property, node string
		state                  history.DiskState
		excused                bool
	}{
		{"raft", "single-leader-per-term", "n3", history.DiskState{Wiped: true}, true},
		{"raft", "single-leader-per-term", "n3", history.DiskState{SyncErrors: 0.1}, true},
		{"raft", "single-leader-per-term", "n3", history.DiskState{Full: true, WriteErrors: 1, ReadErrors: 1, Slow: 1}, false},
		{"raft", "vote-once", "n3", history.DiskState{}, false},
		{"etcd", "monotonic-term", "n1", history.DiskState{Wiped: true}, true},
		{"blob-lease", "fencing", "n1", history.DiskState{Wiped: true}, true},
		{"blob-lease", "fencing", "n2", history.DiskState{Wiped: true}, false},
		{"blob-lease", "fencing", "n1", history.DiskState{Full: true}, false},
		{"blob-lease", "elects", "n1", history.DiskState{Full: true}, true},
		{"blob-lease", "elects", "n2", history.DiskState{Full: true}, false},
		{"raft-prevote", "sticky-leader", "n2", history.DiskState{Slow: 1}, true},
		{"raft-prevote", "no-ping-pong", "n2", history.DiskState{Slow: 1}, false},
		{"blazingmq-scouting", "sticky-leader", "n2", history.DiskState{Slow: 1}, true},
		{"bully", "agreement", "n2", history.DiskState{Wiped: true}, false},
	} {
		target, err := targets.Find(c.target)
		require.NoError(t, err)
		did := did(c.node, c.state)
		require.Equal(t, c.excused, target.Excused(c.property, did) || target.Suspended(c.property, did), "%+v", c)
	}
	raft, err := targets.Find("raft")
	require.NoError(t, err)
	require.False(t, raft.Excused("vote-once", history.Changes{Procs: []history.Proc{{Node: "n1", State: history.Crashed}}}),
		"losing what was not synced excuses nobody")
}
