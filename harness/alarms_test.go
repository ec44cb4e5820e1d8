package harness

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness/record"
	"recount/history"
	"recount/nemesis"
)

// What a node writes to its log only if something is wrong with it breaks a promise that need not be made; lines that come at once are one.
func TestAnAlarmFailsARun(t *testing.T) {
	r, err := Simulate(t.Context(), sealed(
		nemesis.Step{At: time.Second, Fault: "own", Nodes: nemesis.Named{"n2"}, With: map[string]string{"name": "cry"}, For: time.Second},
	))
	require.NoError(t, err)
	var lines []string
	for _, op := range r.History.Ops {
		if op.F == history.Alarm {
			require.Equal(t, "n2", op.Node)
			_, line, _ := strings.Cut(op.Error, "assertion failed: ")
			lines = append(lines, line)
		}
	}
	require.Len(t, lines, 2)
	require.Equal(t, "cried", lines[0])
	require.Regexp(t, "^ x+…$", lines[1])
	v := r.Verdict("no-alarm")
	require.True(t, v.Promised)
	require.Equal(t, checkers.Invalid, v.Verdict)
	require.Regexp(t, "^n2 raised an alarm in its log at .* s \\(one of 2 alarms of 1 node\\): `.*assertion failed: cried`$", v.Why)
	require.Equal(t, record.StatusBroken, r.Status)
}

// That there was none is no test of an election.
func TestNoAlarm(t *testing.T) {
	r, err := Simulate(t.Context(), sealed(
		nemesis.Step{At: time.Second, Fault: "own", Nodes: nemesis.Named{"n2"}, With: map[string]string{"name": "mute"}, For: time.Second},
	))
	require.NoError(t, err)
	require.Equal(t, checkers.Valid, r.Verdict("no-alarm").Verdict)
	require.Equal(t, "no alarm in the log of any of 3 nodes", strings.Split(r.Verdict("no-alarm").Why, ";")[0])
	require.False(t, checkers.OfElection("no-alarm"))
}
