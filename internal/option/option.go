// Package option is named, typed parameters with defaults: those of targets on the command line and in scenarios, and
// those of faults in schedules. Values are checked once, when they are given; reading them cannot fail.
package option

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
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
	Percent              // a share above none and up to all: 30%, 0.5%
	Rate                 // bits in a second: 256kbit, 1.5mbit
	Ports                // TCP or UDP ports: 2379,2380, or all
	Shift                // a duration either way, but not none: 30s, -1.5s
	Drift                // how much faster a clock runs, or slower: 1%, -200ppm
)

var kindWords = [...]string{
	Text: "a text", Bool: "true or false", Number: "a positive number", Duration: "a positive duration such as 150ms",
	Wait: "a duration such as 10ms or 0s", Percent: "a share such as 30%", Rate: "a rate such as 256kbit or 10mbit",
	Ports: `a list of ports such as 2379,2380, or "all"`,
	Shift: "a duration such as 30s or -1.5s", Drift: "a drift such as 1%, -1% or 200ppm, above -90%",
}

// Takes says what the option's value may be: "a positive duration such as 150ms".
func (o *Option) Takes() string {
	if o.Kind == Choice {
		return strings.Join(o.Choices, ", ")
	}
	return kindWords[o.Kind]
}

func (o *Option) check(v string) error {
	ok := true
	switch o.Kind {
	case Bool:
		ok = v == "true" || v == "false"
	case Number:
		f, err := strconv.ParseFloat(v, 64)
		ok = err == nil && f > 0 && f < 1e9
	case Duration:
		d, err := time.ParseDuration(v)
		ok = err == nil && d > 0
	case Wait:
		d, err := time.ParseDuration(v)
		ok = err == nil && d >= 0
	case Percent:
		_, err := parsePercent(v)
		ok = err == nil
	case Rate:
		_, err := parseRate(v)
		ok = err == nil
	case Ports:
		_, err := parsePorts(v)
		ok = err == nil
	case Shift:
		d, err := time.ParseDuration(v)
		ok = err == nil && d != 0
	case Drift:
		_, err := parseDrift(v)
		ok = err == nil
	case Choice:
		if !slices.Contains(o.Choices, v) {
			return fmt.Errorf("option %s: %q is not one of %s", o.Name, v, strings.Join(o.Choices, ", "))
		}
	}
	if !ok {
		return fmt.Errorf("option %s: %q is not %s", o.Name, v, kindWords[o.Kind])
	}
	return nil
}

// Values are the values of all declared options: given ones and defaults. Asking for one that was not declared is a
// programming error.
type Values struct{ values map[string]string }

// Parse checks given values against the declared options and fills in the defaults. who has the options, for errors.
func Parse(who string, declared []Option, given map[string]string) (Values, error) {
	v := Values{map[string]string{}}
	var known []string
	for i := range declared {
		opt := &declared[i]
		known = append(known, opt.Name)
		text, set := given[opt.Name]
		if !set {
			text = opt.Default
		}
		if err := opt.check(text); err != nil {
			return v, hint.Add(fmt.Errorf("%s: %w", who, err), "%s: %s (default %q)", opt.Name, opt.About, opt.Default)
		}
		v.values[opt.Name] = text
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if slices.Contains(known, name) {
			continue
		}
		if len(known) == 0 {
			return v, hint.Add(fmt.Errorf("%s: unknown option %q", who, name), "%s has no options", who)
		}
		return v, fmt.Errorf("%s: %w", who, hint.Unknown("option", name, known))
	}
	return v, nil
}

// Value returns the option's value as it was written.
func (v Values) Value(name string) string {
	text, ok := v.values[name]
	if !ok {
		panic("option: not declared: " + name)
	}
	return text
}

// All returns every option and its value.
func (v Values) All() map[string]string { return v.values }

// Bool returns a Bool option.
func (v Values) Bool(name string) bool { return v.Value(name) == "true" }

// Number returns a Number option.
func (v Values) Number(name string) float64 {
	f, err := strconv.ParseFloat(v.Value(name), 64)
	if err != nil {
		panic("option: this is no number: " + name)
	}
	return f
}

// Duration returns a Duration, a Wait or a Shift option.
func (v Values) Duration(name string) time.Duration {
	d, err := time.ParseDuration(v.Value(name))
	if err != nil {
		panic("option: this is no duration: " + name)
	}
	return d
}
