package docker

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestACommandThatIsNotThereIsSaidNotToBe(t *testing.T) {
	c := open(t, engine(t), runID(t), 1)
	launch(t, c)
	_, err := c.Exec(t.Context(), "n1", []string{"/no/such/command"})
	require.ErrorIs(t, err, ErrNoProgram)
	require.ErrorContains(t, err, "exec /no/such/command on n1: the container has no such program: /no/such/command")
}

func TestWhatACommandPrintsIsBounded(t *testing.T) {
	o := &output{}
	for range maxOutput >> 20 {
		_, err := o.Write([]byte(strings.Repeat("x", 1<<20)))
		require.NoError(t, err)
	}
	_, err := o.Write([]byte("x"))
	require.EqualError(t, err, "it prints more than 8 MiB")
}
