package recounttest

import (
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
		require.Equal(t, want, words(hint.Of(harness.Check(*plan))))
	}
	require.Equal(t, "take a recounttest.For of 12s or more", words("take a --time of 12s or more"))
	require.Equal(t, `recounttest.Set("version", "3.6.16"), recounttest.Seeds(7)`, words("--opt version=3.6.16, --seed 7"))
	require.Equal(t, "a --timely word", words("a --timely word"))
}
