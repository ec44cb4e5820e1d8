// Package option is named, typed parameters with defaults: those of targets on the command line and in scenarios, and
// those of faults in schedules. Values are checked once, when they are given; reading them cannot fail.
package option

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"recount/internal/hint"
)

// Option is one named parameter.
type Option struct {
	Name    string
	Kind    Kind
	Default string
	About   string
	Choices []string // what a Choice may be
	// Breaks are the properties that a target no longer promises once the option is not its default: for options that
	// make an election wrong on purpose.
	Breaks []string
}

// Kind is what an option's value may be.
type Kind uint8

// The kinds of options.
const (
	Text     Kind = iota // anything
	Bool                 // true or false
	Number               // a positive decimal number
	Duration             // a positive duration: 150ms
	Choice               // one of Choices
	Wait                 // a duration, or none: 10ms, 0s
	Period               // a duration that something takes again and again, and time with it: 1ms or more
	Percent              // a share above none and up to all: 30%, 0.5%
	Rate                 // bits in a second: 256kbit, 1.5mbit
	Ports                // TCP or UDP ports: 2379,2380, or all
	Shift                // a duration either way, but not none: 30s, -1.5s
	Drift                // how much faster a clock runs, or slower: 1%, -200ppm
	Size                 // bytes: 64MiB, 900KiB, or none
	Whole                // a positive whole number
)

var kindWords = [...]string{
	Text: "a text", Bool: "true or false", Number: "a positive number", Duration: "a positive duration such as 150ms",
	Wait: "a duration such as 10ms or 0s", Period: "a duration of 1ms or more such as 150ms", Percent: "a share such as 30%", Rate: "a rate such as 256kbit or 10mbit",
	Ports: `a list of ports such as 2379,2380, or "all"`,
	Shift: "a duration such as 30s or -1.5s", Drift: "a drift such as 1%, -1% or 200ppm, above -90%",
	Size: `a size such as 64MiB or 900KiB, or "none"`, Whole: "a positive whole number",
}

// Takes says what the option's value may be: "a positive duration such as 150ms".
func (o *Option) Takes() string {
	if o.Kind == Choice {
		return strings.Join(o.Choices, ", ")
	}
	return kindWords[o.Kind]
}

// parse returns what text stands for, as the type that the reader of o's kind in Values returns.
func (o *Option) parse(text string) (value any, err error) {
	switch o.Kind {
	case Text:
		return text, nil
	case Choice:
		if !slices.Contains(o.Choices, text) {
			choices := slices.Clone(o.Choices)
			for i, c := range choices {
				if c == "" {
					choices[i] = `"" (nothing)`
				}
			}
			return nil, fmt.Errorf("option %s: %q is not one of %s", o.Name, text, strings.Join(choices, ", "))
		}
		return text, nil
	case Bool:
		value, err = parseBool(text)
	case Number:
		value, err = parseNumber(text)
	case Whole:
		value, err = parseWhole(text)
	case Duration:
		value, err = parseDuration(text, func(d time.Duration) bool { return d > 0 })
	case Wait:
		value, err = parseDuration(text, func(d time.Duration) bool { return d >= 0 })
	case Period:
		value, err = parseDuration(text, func(d time.Duration) bool { return d >= time.Millisecond })
	case Shift:
		value, err = parseDuration(text, func(d time.Duration) bool { return d != 0 })
	case Percent:
		value, err = parsePercent(text)
	case Rate:
		value, err = parseRate(text)
	case Ports:
		value, err = parsePorts(text)
	case Drift:
		value, err = parseDrift(text)
	case Size:
		value, err = parseSize(text)
	}
	if err != nil {
		return nil, fmt.Errorf("option %s: %q is not %s", o.Name, text, kindWords[o.Kind])
	}
	return value, nil
}

// Values are the values of all declared options, given ones and defaults, parsed. Asking for one that was not declared, or
// for another type than its kind's, is a programming error. Values may be read by several goroutines.
type Values struct {
	texts  map[string]string // as they were written
	parsed map[string]any    // of the type that the kind's method returns
}

// Parse checks given values against the declared options and fills in the defaults. who has the options, for errors.
func Parse(who string, declared []Option, given map[string]string) (Values, error) {
	v := Values{make(map[string]string, len(declared)), make(map[string]any, len(declared))}
	unknown := len(given)
	for i := range declared {
		opt := &declared[i]
		text, set := given[opt.Name]
		if set {
			unknown--
		} else {
			text = opt.Default
		}
		value, err := opt.parse(text)
		if err != nil {
			return v, hint.Add(fmt.Errorf("%s: %w", who, err), "%s: %s", opt.Name, strings.TrimSpace(fmt.Sprintf("%s (default %q)", opt.About, opt.Default)))
		}
		v.texts[opt.Name], v.parsed[opt.Name] = text, value
	}
	if unknown > 0 {
		return v, notDeclared(who, declared, given)
	}
	return v, nil
}

// notDeclared names the first option that is given and was not declared.
func notDeclared(who string, declared []Option, given map[string]string) error {
	var known []string
	for _, opt := range declared {
		known = append(known, opt.Name)
	}
	names := slices.Sorted(maps.Keys(given))
	name := names[slices.IndexFunc(names, func(name string) bool { return !slices.Contains(known, name) })]
	if len(known) == 0 {
		return hint.Add(fmt.Errorf("%s: unknown option %q", who, name), "%s has no options", who)
	}
	return fmt.Errorf("%s: %w", who, hint.Unknown("option", name, known))
}

// Value returns the option's value as it was written.
func (v Values) Value(name string) string {
	text, ok := v.texts[name]
	if !ok {
		panic("option: not declared: " + name)
	}
	return text
}

// All returns every option and its value as it was written.
func (v Values) All() map[string]string { return v.texts }

// Bool returns a Bool option.
func (v Values) Bool(name string) bool { return of[bool](v, name) }

// Number returns a Number or a Whole option.
func (v Values) Number(name string) float64 { return float64(of[number](v, name)) }

// Duration returns a Duration, a Wait, a Period or a Shift option.
func (v Values) Duration(name string) time.Duration { return of[time.Duration](v, name) }

// Percent returns a Percent option as a share of 1.
func (v Values) Percent(name string) float64 { return float64(of[percent](v, name)) }

// Rate returns a Rate option in bits per second.
func (v Values) Rate(name string) int64 { return of[int64](v, name) }

// Size returns a Size option in bytes, 0 for none.
func (v Values) Size(name string) int64 { return int64(of[size](v, name)) }

// Ports returns the ports of a Ports option, none for all.
func (v Values) Ports(name string) []int { return of[[]int](v, name) }

// Drift returns a Drift option as a share of 1.
func (v Values) Drift(name string) float64 { return float64(of[drift](v, name)) }

// of returns the parsed value of an option of a kind whose values have type T.
func of[T any](v Values, name string) T {
	value, ok := v.parsed[name].(T)
	if !ok {
		panic(fmt.Sprintf("option: %s is not declared as %T", name, value))
	}
	return value
}
