// Package count writes how many things there are, and how much time.
package count

import (
	"fmt"
	"strconv"
	"time"
)

// Of writes a number of things: "1 node", "3 nodes".
func Of(n int, thing string) string { return strconv.Itoa(n) + " " + Noun(n, thing) }

// Noun is what so many things are called: "node" or "nodes". Things whose names take more than an s are not counted here.
func Noun(n int, thing string) string {
	if n == 1 {
		return thing
	}
	return thing + "s"
}

// Time is a length of time in one unit, roughly: "45 s", "5 min", "30 h", "3 days".
func Time(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// Ago is how long before now something was, roughly: "just now", "5 min ago".
func Ago(t, now time.Time) string {
	switch d := now.Sub(t); {
	case t.IsZero():
		return "at no known time"
	case d < time.Minute:
		return "just now"
	default:
		return Time(d) + " ago"
	}
}
