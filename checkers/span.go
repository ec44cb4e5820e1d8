package checkers

import (
	"math"
	"sort"
	"time"
)

// never is later than anything in a history.
const never = time.Duration(math.MaxInt64)

// span is a closed stretch of time.
type span struct{ from, to time.Duration }

func (s span) length() time.Duration { return s.to - s.from }
func (s span) meets(o span) bool     { return s.from <= o.to && o.from <= s.to }

// within is the part of s that lies in o, of no length if none does.
func (s span) within(o span) span {
	s.from = min(max(s.from, o.from), o.to)
	return span{s.from, max(s.from, min(s.to, o.to))}
}

// overlaps reports whether two stretches share more than an instant.
func (s span) overlaps(o span) bool { return s.from < o.to && o.from < s.to }

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

// meeting returns those of some spans that meet s. They must lie one after the other.
func meeting(all []span, s span) []span {
	i := sort.Search(len(all), func(i int) bool { return all[i].to >= s.from })
	j := sort.Search(len(all), func(j int) bool { return all[j].from > s.to })
	return all[i:max(i, j)]
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
