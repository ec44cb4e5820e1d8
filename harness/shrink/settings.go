package shrink

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"recount/harness/record"
)

// settings makes what faults are given smaller, where it is a time, and easier to read.
func (s *shrinker) settings() {
	for i := range s.best.Schedule {
		for _, name := range slices.Sorted(maps.Keys(s.best.Schedule[i].With)) {
			value := s.best.Schedule[i].With[name]
			set := func(p *record.Plan, text string) {
				p.Schedule[i].With = maps.Clone(p.Schedule[i].With)
				p.Schedule[i].With[name] = text
			}
			if d, err := time.ParseDuration(value); err == nil && !slices.Contains(rhythms, name) {
				sign := ""
				if d < 0 {
					sign, d = "-", -d
				}
				s.shorten(d, 1, func(p *record.Plan, d time.Duration) { set(p, sign+d.String()) })
				continue
			}
			for _, text := range append(rounderTime(value), rounder(value)...) {
				if s.try(s.with(func(p *record.Plan) { set(p, text) })) {
					break
				}
			}
		}
	}
}

// rhythms are the times of faults that move. Shorter ones make a fault busier, not smaller.
var rhythms = []string{"down", "up", "every"}

// rounderTime returns rounder texts for a duration: none if it is none.
func rounderTime(text string) (all []string) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return nil
	}
	for digits := 1; digits <= 2 && rounded(d, digits) != d; digits++ {
		all = append(all, rounded(d, digits).String(), (rounded(d, digits) + unit(d, digits)).String())
	}
	return all
}

// rounder returns rounder texts for a number with a unit, such as 12.3% or 26951bit: none if it is no number, or is as
// round as can be.
func rounder(text string) (all []string) {
	if _, err := time.ParseDuration(text); err == nil {
		return nil
	}
	end := strings.LastIndexAny(text, "0123456789.") + 1
	f, err := strconv.ParseFloat(text[:end], 64)
	if err != nil || f == 0 {
		return nil
	}
	for digits := 1; digits <= 2; digits++ {
		g, err := strconv.ParseFloat(fmt.Sprintf("%.*g", digits, f), 64)
		if err != nil || g == f {
			return all
		}
		all = append(all, strconv.FormatFloat(g, 'f', -1, 64)+text[end:])
	}
	return all
}
