package docker

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhyNothingWasSeen(t *testing.T) {
	require.EqualError(t, unseen(nil), "the agent saw nothing within 1m0s")
	require.EqualError(t, unseen(errors.New("the agent is gone")), "the agent saw nothing: the agent is gone")
}
