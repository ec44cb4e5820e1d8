package term

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWrap(t *testing.T) {
	require.Equal(t, []string{"n1 led", "n2–n3", "unreasonably", "so"}, Wrap(" n1  led\nn2–n3 unreasonably so ", 6))
	require.Equal(t, []string{"a b"}, Wrap("a b", 3))
	require.Empty(t, Wrap(" ", 3))
}

func TestPaint(t *testing.T) {
	require.Equal(t, "\x1b[1;31mbroken\x1b[0m", Pen(true).Paint(Red, "broken"))
	for _, same := range []string{Pen(false).Paint(Red, "broken"), Pen(true).Paint("", "broken")} {
		require.Equal(t, "broken", same)
	}
	require.Empty(t, Pen(true).Paint(Dim, ""))
}
