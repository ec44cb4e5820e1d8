package recounttest

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness"
	"recount/harness/record"
	"recount/internal/hint"
)

// What is to be done is said in the words of the one who reads it, who has no command line.
func TestHintsAreInGo(t *testing.T) {
	for plan, want := range map[*record.Plan]string{
		{Target: "etcd", On: record.OnSim}: "add recounttest.OnDocker(); or recounttest.OnVirtual(), where it is all Go",
		{Target: "etcd", On: record.OnVirtual, Nodes: 3, Options: map[string]string{"voters": "5"}}: "take recounttest.Nodes(5) or more",
	} {
		require.Equal(t, want, hint.Spelled(harness.Check(*plan), spell))
	}
	err := hint.Add(errors.New("wrong"), "%v: take a %v of 12s or more, %v, another %v; %v and %v are not here", hint.Set("nodes", 5), hint.Named("time"),
		hint.Set("results", "DIR"), hint.Set("opt", "version"), hint.Named("on"), hint.Named("target"))
	require.Equal(t, `recounttest.Nodes(5): take a recounttest.For of 12s or more, recounttest.Results, another recounttest.Set("version", …); `+
		"--on and --target are not here", hint.Spelled(err, spell))
}
