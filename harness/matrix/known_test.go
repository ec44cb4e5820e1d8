package matrix

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// known are the weaknesses that each election is in the books with, and a fault or scenario that shows each.
var known = []struct{ row, property, fault, scenario string }{
	{"highest-address", "elects", "", "dead-leader"},
	{"random-backoff", "exclusive-leadership", "none", ""},
	{"heartbeat-only", "exclusive-leadership", "halves", ""},
	{"bully-no-timeout", "elects", "", "hung-election"},
	{"bully", "exclusive-leadership", "halves", ""},
	{"bully", "no-ping-pong", "", "unstable-top-rank"},
	{"bully-quorum", "no-ping-pong", "", "unstable-top-rank"},
	{"next-in-line", "exclusive-leadership", "halves", ""},
	{"candidate-ordinary", "exclusive-leadership", "halves", ""},
	{"invitation", "exclusive-leadership", "", "many-groups"},
	{"ring", "exclusive-leadership", "halves", ""},
	{"ring-max", "exclusive-leadership", "halves", ""},
	{"raft", "sticky-leader", "", "non-sticky-leader"},
	{"raft", "no-ping-pong", "", "ping-pong"},
	{"blazingmq-naive", "exclusive-leadership", "isolate", ""},
	{"blazingmq-naive", "ordered-updates", "", "stale-updates"},
	{"blazingmq-term", "sticky-leader", "", "non-sticky-leader"},
	{"blazingmq-term", "no-ping-pong", "", "ping-pong"},
	{"leader-lease:clock=wall", "exclusive-leadership", "", "lease-clock-jump"},
	{"leader-lease", "exclusive-leadership", "", "lease-clock-drift"},
	{"leader-lease", "fencing", "", "paused-leader"},
	{"blob-lease", "elects", "", "store-outage"},
	{"blob-lease", "fencing", "", "paused-leader"},
	{"zookeeper-recipe", "fencing", "", "paused-leader"},
	{"etcd-election", "fencing", "", "paused-leader"},
	{"kubernetes-lease", "exclusive-leadership", "", "lease-clock-drift"},
	{"kubernetes-lease", "fencing", "", "paused-leader"},
	{"stable-leader", "exclusive-leadership", "halves", ""},

	{"raft:synchronized-timeouts", "elects", "none", ""},
	{"raft:ignore-higher-term", "agreement", "", "partition-recovery"},
	{"raft:ignore-higher-term", "exclusive-leadership", "cut-link", ""},
	{"raft:forget-vote", "vote-once", "kill-all", ""},
	{"raft:forget-vote", "single-leader-per-term", "kill-all", ""},
	{"raft-prevote:no-quorum-check", "exclusive-leadership", "", "minority-leader"},
	{"raft:no-quorum-check", "linearizable", "leader-with-minority", ""},
	{"raft:no-heartbeat-timeout", "elects", "", "cascading-failures"},
	{"raft:vote-twice", "single-leader-per-term", "isolate", ""},
	{"raft:stale-log", "linearizable", "", "stale-log"},
	{"raft:minority-quorum", "single-leader-per-term", "halves", ""},
}

// What an election is known to break, the matrix finds; a promise of it never.
func TestEveryKnownWeaknessIsFound(t *testing.T) {
	for _, k := range known {
		t.Run(k.row+" "+k.property, func(t *testing.T) {
			t.Parallel()
			faults, scenarios := []string{}, []string{}
			if k.fault != "" {
				faults = append(faults, k.fault)
			}
			if k.scenario != "" {
				scenarios = append(scenarios, k.scenario)
			}
			p := planned(t, []string{k.row}, faults, scenarios)
			p.Seeds, p.Nodes, p.Time, p.Jobs = 8, []int{3, 4, 5}, 0, 1
			p.Workloads = []string{"fence", "register", "updates"}
			table, err := Measure(context.Background(), p, quiet)
			require.NoError(t, err)
			cell := table.cell(k.row, k.fault+k.scenario, k.property)
			require.Equal(t, Weak, cell.Verdict, "%+v", cell)
			require.NotEmpty(t, cell.Command)
			require.Zero(t, table.Count(Broken), "%+v", table.Findings(Broken))
			if slices.ContainsFunc(table.Rows, Row.FootGun) {
				require.Positive(t, cell.Caught, "by what the row is wrong on purpose in: %+v", cell)
			}
		})
	}
}
