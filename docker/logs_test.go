package docker

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLineWriter(t *testing.T) {
	long := strings.Repeat("x", maxLogLine)
	for _, tt := range []struct {
		writes, want []string
	}{
		{[]string{"a\nb\n"}, []string{"a", "b"}},
		{[]string{"a", "b\r\n", "\nc"}, []string{"ab", "", "c"}},
		{[]string{long, "y\n"}, []string{long, "y"}},
		{nil, nil},
	} {
		var got []string
		broken := 0
		w := &lineWriter{give: func(lines []string) { got = append(got, lines...) }, long: func() { broken++ }}
		for _, text := range tt.writes {
			n, err := w.Write([]byte(text))
			require.NoError(t, err)
			require.Equal(t, len(text), n)
		}
		w.flush()
		w.flush()
		require.Equal(t, tt.want, got)
		if len(got) > 0 && got[0] == long {
			require.Equal(t, 1, broken, "somebody is told of it")
		} else {
			require.Zero(t, broken)
		}
	}
}
