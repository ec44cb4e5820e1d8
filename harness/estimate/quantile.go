package estimate

import (
	"cmp"
	"math"
	"slices"
)

// Quantile is the least of the values that a share of all, from 0 to 1, do not exceed; false of none.
func Quantile[T cmp.Ordered](values []T, share float64) (least T, ok bool) {
	if len(values) == 0 {
		return least, false
	}
	sorted := slices.Sorted(slices.Values(values))
	const rounding = 1e-9 // 7 % of 100 are 7, not 7.000000000000001
	rank := int(math.Ceil(share*float64(len(sorted)) - rounding))
	return sorted[min(max(rank, 1), len(sorted))-1], true
}
