package specfile

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheSizeOfAClusterIsRead(t *testing.T) {
	const pair = "image: a\nports: {http: 80}\ntimes: {silence: 1s}\nobserve: {http: /, role: role}\nnodes: 3\n"
	require.Equal(t, 3, parse(t, pair).Target("a.yaml").Size)
	require.Zero(t, parse(t, strings.Replace(pair, "nodes: 3\n", "", 1)).Target("a.yaml").Size)
	for _, size := range []string{"1", "100", "3-5", "a pair"} {
		_, err := Parse("a.yaml", []byte(strings.Replace(pair, "nodes: 3", "nodes: "+size, 1)))
		require.ErrorContains(t, err, "is no size of a cluster: that is a number from 2 to 99")
	}
}
