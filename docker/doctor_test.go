package docker

import (
	"errors"
	"testing"

	"github.com/docker/docker/api/types"
	"github.com/stretchr/testify/require"

	"recount/internal/hint"
)

func TestWhyNothingWasSeen(t *testing.T) {
	require.EqualError(t, unseen(nil), "the agent saw nothing within 1m0s")
	require.EqualError(t, unseen(errors.New("the agent is gone")), "the agent saw nothing: the agent is gone")
}

func TestKnownFlawsOfReleases(t *testing.T) {
	for _, tt := range []struct {
		version, component string
		flawed             bool
	}{
		{"20.10.24+dfsg1", "Engine", true},
		{"19.03.15", "Engine", true},
		{"20.10.27", "Engine", false},
		{"20.10.100", "Engine", false},
		{"29.0.1", "Engine", false},
		{"library-import", "Engine", false},
		{"4.3.1", "Podman Engine", false},
	} {
		c := ofRelease(types.Version{Version: tt.version, Components: []types.ComponentVersion{{Name: "containerd"}, {Name: tt.component}}})
		require.True(t, c.OK)
		require.Equal(t, tt.flawed, c.Hint != "", tt.version)
		require.Contains(t, c.Detail, engines[tt.component]+" "+tt.version)
	}
}

func TestAMachineWithoutFUSEIsToldSo(t *testing.T) {
	err := withoutFUSE(errors.New(`error gathering device information while adding custom device "/dev/fuse": no such file or directory`))
	require.Contains(t, hint.Of(err), "modprobe fuse")
	require.Empty(t, hint.Of(withoutFUSE(errors.New("no such image"))))
}
