package targets

import "recount/internal/option"

// Option is a named parameter of a target.
type Option = option.Option

// Options are the values of all of a target's options.
type Options = option.Values

// The kinds of options.
const (
	Text     = option.Text
	Bool     = option.Bool
	Number   = option.Number
	Duration = option.Duration
	Choice   = option.Choice
)

// Parse checks the given values against t's options and fills in the defaults.
func (t *Target) Parse(given map[string]string) (Options, error) {
	return option.Parse(t.Name, t.Options, given)
}
