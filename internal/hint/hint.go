// Package hint gives an error the way out of it: a second line for the person who made the mistake.
package hint

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

type hinted struct {
	error
	hint string
}

func (h *hinted) Unwrap() error { return h.error }

// Add returns err with a hint, formatted as by fmt.Sprintf.
func Add(err error, format string, args ...any) error {
	return &hinted{err, fmt.Sprintf(format, args...)}
}

// Of returns the outermost hint in err's chain, or "".
func Of(err error) string {
	var h *hinted
	if errors.As(err, &h) {
		return h.hint
	}
	return ""
}

// Line is err and, where it has one, its hint, in one line.
func Line(err error) string {
	if h := Of(err); h != "" {
		return fmt.Sprintf("%v; %s", err, h)
	}
	return err.Error()
}

// InFile has a hint that speaks of flags speak of the fields of a file, which have their names but for options. A command line stays one.
func InFile(err error) error {
	h := Of(err)
	words := strings.ReplaceAll(h, "--opt ", "option ")
	words = flag.ReplaceAllString(valued.ReplaceAllString(words, "$1: $2"), "$1")
	if words == h || strings.Contains(h, "recount ") {
		return err
	}
	return Add(err, "%s", words)
}

var (
	flag   = regexp.MustCompile(`--([a-z]+)`)
	valued = regexp.MustCompile(`--([a-z]+) (docker|virtual|[0-9]\w*)`)
)

// Unknown is the error for a name that is not registered: what says which kind of name it is. The hint offers the
// nearest known name, or all of them.
func Unknown(what, name string, known []string) error {
	err := fmt.Errorf("unknown %s %q", what, name)
	if near := Near(name, known); near != "" {
		return Add(err, "did you mean %q?", near)
	}
	known = slices.Sorted(slices.Values(known))
	return Add(err, "known: %s", cmp.Or(strings.Join(known, ", "), "none"))
}

// Near returns the known name that was most likely meant, or "".
func Near(name string, known []string) string {
	return cmp.Or(closest(name, known), begun(name, known))
}

// begun returns the only known name that begins with name, or "".
func begun(name string, known []string) (only string) {
	for _, k := range known {
		if name != "" && strings.HasPrefix(k, name) {
			if only != "" {
				return ""
			}
			only = k
		}
	}
	return only
}

// closest returns the known name within a third of name's length of edits, or "".
func closest(name string, known []string) string {
	best, at := "", max(1, len(name)/3)+1
	for _, k := range known {
		if d := distance(name, k); d < at {
			best, at = k, d
		}
	}
	return best
}

// distance counts the edits that make b of a: a letter more, less, another, or two neighbours swapped (optimal string
// alignment).
func distance(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
