package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"recount/history"
	"recount/internal/hint"
)

// bounded returns a target's thresholds with those that were given instead.
func (c *checking) bounded(b history.Bounds) (history.Bounds, error) {
	for _, text := range c.bounds {
		name, value, _ := strings.Cut(text, "=")
		d, noTime := time.ParseDuration(value)
		n, noNumber := strconv.Atoi(value)
		bad := fmt.Errorf("--bound %q", text)
		switch name {
		case "silence", "elect":
			if noTime != nil || d <= 0 {
				return b, hint.Add(bad, "want a time, such as %s=2s", name)
			}
		case "moves", "returns", "terms":
			if noNumber != nil || n < 1 {
				return b, hint.Add(bad, "want a number from 1 on, such as %s=4", name)
			}
		default:
			return b, hint.Add(bad, "known: silence, elect, moves, returns, terms; recount list targets shows what each target is judged by")
		}
		switch name {
		case "silence":
			b.Silence = d
		case "elect":
			b.Elect = d
		case "moves":
			b.Moves = n
		case "returns":
			b.Returns = n
		case "terms":
			b.Terms = uint64(n)
		}
		if err := b.Fit(); err != nil {
			return b, fmt.Errorf("%w: %w", bad, err)
		}
	}
	return b, nil
}
