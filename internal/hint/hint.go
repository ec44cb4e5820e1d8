// Package hint gives an error the way out of it: a second line for the person who made the mistake.
package hint

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

type hinted struct {
	error
	format string
	args   []any
}

func (h *hinted) Unwrap() error { return h.error }

// Add returns err with a hint, formatted as by fmt.Sprintf. An Option among the arguments is for whoever shows the hint to spell.
func Add(err error, format string, args ...any) error { return &hinted{err, format, args} }

// Or returns err with the hint that another error has, or else with one of its own.
func Or(err, other error, otherwise string) error {
	var h *hinted
	if errors.As(other, &h) {
		return Add(err, h.format, h.args...)
	}
	return Add(err, "%s", otherwise)
}

// Of returns the outermost hint in err's chain, or "", with options spelled as on the command line.
func Of(err error) string { return Spelled(err, Option.String) }

// Spelled is Of with options in the words of somebody who has no command line.
func Spelled(err error, spell func(Option) string) string {
	var h *hinted
	if !errors.As(err, &h) {
		return ""
	}
	args := slices.Clone(h.args)
	for i, arg := range args {
		if o, is := arg.(Option); is {
			args[i] = spell(o)
		}
	}
	return fmt.Sprintf(h.format, args...)
}

// Option is one of a run's options.
type Option struct {
	Name  string // as the command line has it: "nodes"; "opt" for one of the target's
	Value string // "" where it is not about a certain one; of opt, the name of the target's
}

// Named is an option, whatever its value.
func Named(name string) Option { return Option{Name: name} }

// Set is an option with a value.
func Set(name string, value any) Option { return Option{name, fmt.Sprint(value)} }

// String spells it for the command line: "--nodes 5".
func (o Option) String() string { return strings.TrimSpace("--" + o.Name + " " + o.Value) }

// Line is err and, where it has one, its hint, in one line.
func Line(err error) string {
	if h := Of(err); h != "" {
		return fmt.Sprintf("%v; %s", err, h)
	}
	return err.Error()
}

// InFile returns err with its hint spelled for a file, whose fields have the options' names: "nodes: 5".
func InFile(err error) error {
	words := Spelled(err, func(o Option) string {
		switch {
		case o.Name == "opt":
			return "option " + o.Value
		case o.Value == "":
			return o.Name
		}
		return o.Name + ": " + o.Value
	})
	if words == Of(err) {
		return err
	}
	return Add(err, "%s", words)
}

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
