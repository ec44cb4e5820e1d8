package nemesis

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/internal/hint"
)

// Who runs in containers what was found in virtual time is told before nodes are started that there are no such faults.
func TestFaultsThatAreAimedAtWhatHappensAreForVirtualTime(t *testing.T) {
	require.NoError(t, Schedule{{Fault: "kill", For: time.Second}}.CheckTimed())
	err := Schedule{{Fault: "kill", For: time.Second}, {Fault: "crash-within", For: time.Second}}.CheckTimed()
	require.ErrorContains(t, err, "crash-within is aimed at what happens, which only clusters in virtual time can have")
	require.Contains(t, hint.Of(err), "kill")
}
