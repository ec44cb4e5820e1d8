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
		w := &lineWriter{give: func(lines []string) { got = append(got, lines...) }}
		for _, text := range tt.writes {
			n, err := w.Write([]byte(text))
			require.NoError(t, err)
			require.Equal(t, len(text), n)
		}
		w.flush()
		w.flush()
		require.Equal(t, tt.want, got)
	}
}
