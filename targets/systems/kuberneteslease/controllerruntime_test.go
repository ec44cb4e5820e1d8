package kuberneteslease

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/targets/systems/systemtest"
)

func TestControllerRuntime(t *testing.T) {
	all := leaseMembers()
	command := systemtest.System(t, "controller-runtime", map[string]string{"retry-period": "2s"}).Container(all[0], all).Command
	require.Contains(t, command, "-retry-period=2s")
	require.Contains(t, command, "-wind-down=500ms")
	systemtest.Refuses(t, "controller-runtime", "version", "0.15.0", "known: 0.16 to 0.25")
}

// A version that begins to lead when it shuts down does not promise what others do.
func TestControllerRuntimePromises(t *testing.T) {
	systemtest.Promises(t, "controller-runtime", nil, "single-leader-per-term", true)
	systemtest.Promises(t, "controller-runtime", map[string]string{"version": "0.17.2"}, "single-leader-per-term", false)
	systemtest.Promises(t, "controller-runtime", map[string]string{"version": "0.17.3"}, "single-leader-per-term", true)
}
