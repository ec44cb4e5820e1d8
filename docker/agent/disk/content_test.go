package disk

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A file may be called as long as a file can be, and short again, at once.
func TestAFileOfExabytesBecomesShort(t *testing.T) {
	c := newContent()
	copy(c.own(0)[:], "0123456789")
	c.truncate(1 << 62)
	c.truncate(4)
	c.truncate(10)
	require.Equal(t, []byte("0123\x00\x00\x00\x00\x00\x00"), c.own(0)[:10])
}
