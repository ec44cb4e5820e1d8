package checkers

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSpread(t *testing.T) {
	of := func(all ...int) string { return spread(all, strconv.Itoa) }
	require.Equal(t, "none", of())
	require.Equal(t, "1, 7", of(7))
	require.Equal(t, "2, median 3, 9 in 10 up to 7, at most 7", of(7, 3))
	require.Equal(t, "10, median 5, 9 in 10 up to 9, at most 10", of(10, 9, 8, 7, 6, 5, 4, 3, 2, 1))
	require.Equal(t, "11, median 6, 9 in 10 up to 10, at most 11", of(10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 11))
}

func TestASpanThatIsAnInstant(t *testing.T) {
	require.Equal(t, "between 12.000 s and 12.001 s", between(12*time.Second, 12*time.Second+time.Millisecond))
	require.Equal(t, "at 12.000 s", between(12*time.Second, 12*time.Second+time.Microsecond))
}
