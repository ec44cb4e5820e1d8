//go:build linux

package agent

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A socket that only sends, of protocol 0, reads nothing.
func TestTapsAreReadAsTheKernelWritesThem(t *testing.T) {
	const head = "sk               RefCnt Type Proto  Iface R Rmem   User   Inode\n"
	require.False(t, parseTaps(head))
	require.False(t, parseTaps(head+"0000000000000000 3      3    0000   2     1 0      0      67890\n"))
	require.True(t, parseTaps(head+"0000000000000000 3      3    0000   2     1 0      0      67890\n0000000000000000 3      3    0003   2     1 0      0      12345\n"))
	require.True(t, parseTaps(head+"0000000000000000 3      2    0800   0     1 0      0      12345\n"))
}
