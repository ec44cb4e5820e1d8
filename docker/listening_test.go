package docker

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhereANodeListens(t *testing.T) {
	c := openReady(t, engine(t), 2)
	ports, alone, err := c.Listening(t.Context(), "n1")
	require.NoError(t, err)
	require.Equal(t, []int{7000}, ports, "and where the engine tells names is no port of its own")
	require.Empty(t, alone)
	require.Equal(t, "ok", tell(t, c, "n1", "listen :7100"))
	require.Equal(t, "ok", tell(t, c, "n1", "listen 127.0.0.1:7200"))
	ports, alone, err = c.Listening(t.Context(), "n1")
	require.NoError(t, err)
	require.Equal(t, []int{7000, 7100, 7200}, ports)
	require.Equal(t, []int{7200}, alone)
	ports, _, err = c.Listening(t.Context(), "n2")
	require.NoError(t, err)
	require.Equal(t, []int{7000}, ports)
}
