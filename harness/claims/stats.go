package claims

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"recount/harness/estimate"
)

// quantile is estimate.Quantile; NaN of none.
func quantile(values []float64, share float64) float64 {
	q, ok := estimate.Quantile(values, share)
	if !ok {
		return math.NaN()
	}
	return q
}

func median(values []float64) float64 { return quantile(values, 0.5) }

func least(values []float64) float64 { return quantile(values, 0) }

func most(values []float64) float64 { return quantile(values, 1) }

func mean(values []float64) float64 { return stat.Mean(values, nil) }

// exponent fits y = c·x^e to points by least squares of their logarithms, and returns e.
func exponent(x, y []float64) float64 {
	var a, b []float64
	for i := range x {
		if x[i] > 0 && y[i] > 0 {
			a, b = append(a, math.Log(x[i])), append(b, math.Log(y[i]))
		}
	}
	_, e := stat.LinearRegression(a, b, nil, false)
	return e
}

// How numbers are written.

// seconds writes a number of seconds: "35 ms", "1.25 s"; "–" where there is none.
func seconds(s float64) string {
	switch {
	case math.IsNaN(s):
		return "–"
	case math.IsInf(s, 1):
		return "never"
	case s < 0.0005:
		return fmt.Sprintf("%.2f ms", s*1000)
	case s < 1:
		return fmt.Sprintf("%.0f ms", s*1000)
	}
	return fmt.Sprintf("%.2f s", s)
}

func percent(share float64) string {
	switch {
	case math.IsNaN(share):
		return "–"
	case share > 0 && share < 0.001, share < 1 && share > 0.999:
		return fmt.Sprintf("%.2f %%", 100*share)
	case share == 0 || share == 1:
		return fmt.Sprintf("%.0f %%", 100*share)
	}
	return fmt.Sprintf("%.1f %%", 100*share)
}

// power writes how something grows with n: "n^1.02".
func power(e float64) string {
	if math.IsNaN(e) || math.IsInf(e, 0) {
		return "–"
	}
	return fmt.Sprintf("n^%.2f", e)
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// each names series that differ by a number.
func each(format string, n any) string { return fmt.Sprintf(format, n) }
