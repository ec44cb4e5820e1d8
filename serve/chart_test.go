package serve

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A file may hold numbers that no scale can show. They are left out, and the others are drawn.
func TestChartOfAnyNumbers(t *testing.T) {
	draw := func(more ...chartPoint) string {
		body, _ := (&chart{lines: []chartLine{{Name: "a", Points: append([]chartPoint{{X: 0, Y: 3, High: 4}, {X: 2, Y: 1}}, more...)}}}).draw()
		return string(body)
	}
	want := draw()
	require.Contains(t, draw(chartPoint{Y: 9000}), ">10000<", "not 1e+04")
	require.Equal(t, 5, strings.Count(want, `class="grid"`), "0 to 4")
	for _, v := range []float64{1.7e308, 1e16, -1.7e308, math.Inf(1), math.NaN()} {
		require.Equal(t, want, draw(chartPoint{X: v}), v)
		require.Equal(t, want, draw(chartPoint{Y: v}), v)
		require.Equal(t, want, draw(chartPoint{High: v}), v)
	}
	for _, v := range []float64{5e-324, 1e-300, 0.07, 9e14} {
		body, _ := (&chart{lines: []chartLine{{Points: []chartPoint{{Y: v}}}}}).draw()
		lines := strings.Count(string(body), `class="grid"`)
		require.True(t, 2 <= lines && lines <= 6, "%g has %d", v, lines)
		require.NotContains(t, string(body), "NaN", v)
	}
}

// Where there is nothing to draw no axis pretends that there is: dates began with 1970.
func TestChartOfNothing(t *testing.T) {
	body, _ := (&chart{dates: true, lines: []chartLine{{Name: "a"}}}).draw()
	require.Contains(t, string(body), "nothing was measured")
	require.NotContains(t, string(body), "Jan")
}
