package recipes

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNearVersions(t *testing.T) {
	all := []string{"v1.6.0", "v1.6.1", "v1.7.0-rc1", "v1.7.0", "v1.7.1", "v2.0.0"}
	require.Equal(t, []string{"v1.7.0", "v1.7.1"}, near(all, "v1.7.99"))
	require.Equal(t, all, near(all, "v3.0.0"), "none is near")
}

// Other errors of a build stay as they are.
func TestOtherErrorsOfABuild(t *testing.T) {
	err := errors.New("go build: exit status 1: main.go:3:1: syntax error")
	require.Equal(t, err, ofVersions(context.Background(), err))
	require.NoError(t, ofVersions(context.Background(), nil))
	for _, says := range []string{
		"go: github.com/hashicorp/raft@v1.7.99: invalid version: unknown revision v1.7.99",
		"go: github.com/hashicorp/raft@v1.7.99: reading https://proxy.example/x.mod: 404 Not Found",
	} {
		require.Equal(t, []string{"github.com/hashicorp/raft", "v1.7.99"}, lacking.FindStringSubmatch(says)[1:])
	}
}
