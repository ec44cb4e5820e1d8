package docker

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/internal/hint"
)

// What an engine says of a program that a container cannot run is that program and why, and not by whom it was tried.
func TestAProgramThatAContainerCannotRun(t *testing.T) {
	const by = "Error response from daemon: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: "
	for said, want := range map[string]string{
		`exec: "/usr/bin/server": stat /usr/bin/server: no such file or directory: unknown`:        `its container cannot run "/usr/bin/server": stat /usr/bin/server: no such file or directory`,
		`error during container init: exec: "server": executable file not found in $PATH: unknown`: `its container cannot run "server": executable file not found in $PATH`,
		`exec: "/server": permission denied`:                                                       `its container cannot run "/server": permission denied`,
	} {
		err := unrunnable(errors.New(by + said))
		require.EqualError(t, err, want)
		require.Contains(t, hint.Of(err), "#!")
	}
	other := errors.New(by + "error during container init: error mounting proc: no space left on device: unknown")
	require.Equal(t, other, unrunnable(other))
}
