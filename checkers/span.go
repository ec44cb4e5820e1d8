package checkers

import (
	"math"
	"time"
)

// never is later than anything in a history.
const never = time.Duration(math.MaxInt64)

// span is a closed stretch of time.
type span struct{ from, to time.Duration }

func (s span) length() time.Duration { return s.to - s.from }
func (s span) meets(o span) bool     { return s.from <= o.to && o.from <= s.to }

// merge joins spans that meet. They must be in the order in which they begin; the slice is used for the result.
func merge(all []span) []span {
	n := 0
	for i, s := range all {
		if i > 0 && s.from <= all[n-1].to {
			all[n-1].to = max(all[n-1].to, s.to)
			continue
		}
		all[n] = s
		n++
	}
	return all[:n]
}

// outside returns what spans leave of s. They must be in the order in which they begin.
func outside(all []span, s span) []span {
	var rest []span
	for _, o := range all {
		if !o.meets(s) {
			continue
		}
		if o.from > s.from {
			rest = append(rest, span{s.from, o.from})
		}
		if s.from = o.to; s.from >= s.to {
			return rest
		}
	}
	return append(rest, s)
}

// total is how long spans last together.
func total(all []span) (sum time.Duration) {
	for _, s := range all {
		sum += s.length()
	}
	return sum
}
