package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"recount/checkers"
	"recount/history"
	"recount/internal/count"
)

// How reports put things into words.

// seconds writes a time for people.
func seconds(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.FormatFloat(ms(d), 'f', digits(ms(d), 3), 64) + " ms"
	case d < 2*time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + " s"
	}
	whole := d.Round(100 * time.Millisecond)
	if whole >= day {
		return long(whole)
	}
	return fmt.Sprintf("%d min %04.1f s", int(whole/time.Minute), (whole % time.Minute).Seconds())
}

const day = 24 * time.Hour

// long writes a time of a day or more, in tenths of a second, without the units of which there are none: "1 day 2 h", "3 days 5 min 04.2 s".
func long(d time.Duration) string {
	words := []string{count.Of(int(d/day), "day")}
	for _, u := range []struct {
		n    time.Duration
		name string
	}{{d % day / time.Hour, "h"}, {d % time.Hour / time.Minute, "min"}} {
		if u.n > 0 {
			words = append(words, fmt.Sprintf("%d %s", u.n, u.name))
		}
	}
	if rest := d % time.Minute; rest > 0 {
		words = append(words, fmt.Sprintf("%04.1f s", rest.Seconds()))
	}
	return strings.Join(words, " ")
}

// digits is how many to write after the point, for so many significant ones in all.
func digits(f float64, significant int) int {
	for whole := f; whole >= 1 && significant > 0; whole /= 10 {
		significant--
	}
	if f == math.Trunc(f) {
		return 0
	}
	return min(significant, 2)
}

// settings writes parameters in order of their names.
func settings(m map[string]string) string {
	words := make([]string, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		words = append(words, k+"="+m[k])
	}
	return strings.Join(words, " ")
}

// Seconds writes a time for people.
func Seconds(d time.Duration) string { return seconds(d) }

// Holds says what a property asks for, to complete "asks that …"; "" of one that nobody judges.
func Holds(property string) string {
	for _, c := range checkers.All() {
		if c.Property == property {
			return c.Holds
		}
	}
	return ""
}

// Words says what an op says, in one line.
func Words(op *history.Op) string {
	switch op.F {
	case history.Observe, history.Announce:
		if op.F == history.Announce || op.Type == history.OK {
			return viewWords(op.View)
		}
	case history.Granted:
		return fmt.Sprintf("votes for %s in term %d", op.Vote.For, op.Vote.Term)
	case history.Write:
		return fmt.Sprintf("token %d, value %d", op.Access.Token, op.Access.Value)
	case history.Read:
		if op.Type == history.OK {
			return fmt.Sprintf("highest token %d, value %d", op.Access.Token, op.Access.Value)
		}
	case history.Stall:
		return "the machine stood still for " + seconds(time.Duration(op.Access.Value))
	case history.ReadClock:
		words := fmt.Sprintf("wall clock wrong by %v, monotonic clock by %v", op.Reading.Wall, op.Reading.Monotonic)
		if op.Reading.Waits != 0 {
			words += fmt.Sprintf("; waits went wrong by up to %v", op.Reading.Waits)
		}
		return words
	case history.Inject, history.Change, history.Heal:
		if op.Fault != nil {
			return faultOpWords(op.Fault)
		}
	case history.Exit:
		if op.Fault != nil {
			return "its process was ended by " + op.Fault.Name
		}
		return "its process ended by itself"
	case history.Alarm:
		return "raised an alarm: " + op.Error
	case history.Begin, history.End:
	}
	return ""
}

func faultOpWords(f *history.Fault) string {
	s := f.Title()
	if len(f.Params) > 0 {
		s += " " + settings(f.Params)
	}
	if f.Found {
		s += " came true in part: " + f.Came()
	}
	return s
}
