// Package nats tests NATS as a spec file describes it, whose servers go by ids that they tell themselves.
package nats_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/internal/testled"
	"recount/internal/testlong"
	"recount/recounttest"
)

func TestMain(m *testing.M) { recounttest.Main(m) }

func TestTheOthersElectAnother(t *testing.T) {
	named(t, recounttest.Run(t, "election.yaml", "killed.yaml", recounttest.OnVirtual(), recounttest.Seeds(1), recounttest.Require("elects")))
}

func TestTheOthersElectAnotherInContainers(t *testing.T) {
	testlong.Only(t)
	named(t, recounttest.Run(t, "election.yaml", "killed.yaml", recounttest.OnDocker(), recounttest.Seeds(1), recounttest.Require("elects")))
}

// named requires that two nodes led, and that others named each of them: by its id, which Recount was told by itself.
func named(t *testing.T, r *record.Run) {
	t.Helper()
	require.NotNil(t, r)
	require.Empty(t, r.Unread)
	led, named := testled.ByNode(r.History)
	require.Len(t, led, 2)
	require.Equal(t, led, named)
}
