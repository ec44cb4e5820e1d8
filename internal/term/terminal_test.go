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

func TestPrintable(t *testing.T) {
	require.Equal(t, "n1  ]0;owned   [2J→n2", Printable("n1 \x1b]0;owned\a\x9b\x1b[2J→n2"))
	require.Equal(t, " a b ", Printable("\na\tb\u0085"))
}

func TestClip(t *testing.T) {
	for s, want := range map[string]string{"": "", "n1–n2": "n1–n2", "n1–n2–n3": "n1–n…", "\xff\xff\xff\xff\xff\xff": "\xff\xff\xff\xff…"} {
		require.Equal(t, want, Clip(s, 5))
	}
	require.Equal(t, "…", Clip("n1", 1))
}

func TestPaint(t *testing.T) {
	require.Equal(t, "\x1b[1;31mbroken\x1b[0m", Pen(true).Paint(Red, "broken"))
	for _, same := range []string{Pen(false).Paint(Red, "broken"), Pen(true).Paint("", "broken")} {
		require.Equal(t, "broken", same)
	}
	require.Empty(t, Pen(true).Paint(Dim, ""))
}
