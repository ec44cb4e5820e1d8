package checkers

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStrangersAreNoNodes has a fault pause somebody that the history does not know, and go on: it makes no node of it.
func TestStrangersAreNoNodes(t *testing.T) {
	h, err := parseHistory(`nodes n1 n2 n3
		0s n1 n2 n3 follower 1
		1s-1.1s nemesis inject pause n9: pause n9
		2s-2.1s nemesis heal pause n9: start n9
		9s end`)
	require.NoError(t, err)
	require.Equal(t, []string{"n1", "n2", "n3"}, gather(h).nodes)
}
