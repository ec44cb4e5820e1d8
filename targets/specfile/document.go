package specfile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"recount/internal/hint"
	"recount/internal/option"
	"recount/internal/strict"
)

// How a YAML file is read so that every mistake in it is told with its line and column.

// fault is a mistake at a place in the file, to be given the file's name.
type fault struct {
	line, column int
	err          error
}

func (f *fault) Error() string { return fmt.Sprintf("%d:%d: %v", f.line, f.column, f.err) }
func (f *fault) Unwrap() error { return f.err }

// value is a piece of the document, and what it is called there.
type value struct {
	*yaml.Node
	name string
}

// part is a field and what is read into or of it. Fields of a mapping are looked at in a fixed order, so that of two mistakes always the
// same is told.
type part[T any] struct {
	name string
	of   T
}

// bad is a mistake at v, with the way out.
func (v value) bad(way, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if way != "" {
		err = hint.Add(err, "%s", way)
	}
	return &fault{v.Line, v.Column, err}
}

// document reads the root of a file: a mapping.
func document(text []byte) (value, error) {
	root, err := strict.Parse(text)
	var e *strict.Error
	switch {
	case errors.Is(err, strict.ErrEmpty):
		return value{}, &fault{1, 1, hint.Add(err, "recount init FILE writes one to begin with")}
	case errors.As(err, &e):
		return value{}, &fault{e.Line, e.Column, e.Err}
	}
	return value{root, "the file"}, err
}

// fields reads a mapping whose keys are among the known ones.
func (v value) fields(known ...string) (map[string]value, error) {
	if v.Kind != yaml.MappingNode {
		return nil, v.bad("its fields are "+strings.Join(known, ", "), "%s is not a mapping of fields to values", v.name)
	}
	found := map[string]value{}
	for i := 0; i+1 < len(v.Content); i += 2 {
		key := value{v.Content[i], v.name}
		if !slices.Contains(known, key.Value) {
			return nil, &fault{key.Line, key.Column, hint.Unknown("field", key.Value, known)}
		}
		if _, twice := found[key.Value]; twice {
			return nil, key.bad("leave one of them out", "%s is given twice", key.Value)
		}
		found[key.Value] = value{resolved(v.Content[i+1]), key.Value}
	}
	return found, nil
}

// each reads a mapping with any keys, in the file's order.
func (v value) each(f func(key, val value) error) error {
	if v.Kind != yaml.MappingNode {
		return v.bad("write it as name: value", "%s is not a mapping of names to values", v.name)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(v.Content); i += 2 {
		key := value{v.Content[i], v.name}
		if seen[key.Value] {
			return key.bad("leave one of them out", "%s is given twice", key.Value)
		}
		seen[key.Value] = true
		if err := f(key, value{resolved(v.Content[i+1]), key.Value}); err != nil {
			return err
		}
	}
	return nil
}

// resolved follows an alias to what it stands for.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// list reads a sequence; a single value is a sequence of one.
func (v value) list() []value {
	if v.Kind != yaml.SequenceNode {
		return []value{v}
	}
	var all []value
	for _, n := range v.Content {
		all = append(all, value{resolved(n), v.name})
	}
	return all
}

// oneOf reads a word of which each says something.
func oneOf[T any](v value, words map[string]T) (says T, err error) {
	word, err := v.text()
	if err != nil {
		return says, err
	}
	says, known := words[word]
	if !known {
		err = &fault{v.Line, v.Column, hint.Unknown(v.name, word, slices.Collect(maps.Keys(words)))}
	}
	return says, err
}

// isMapping reports whether v has fields.
func (v value) isMapping() bool { return v.Kind == yaml.MappingNode }

// text reads a single value.
func (v value) text() (string, error) {
	if v.Kind != yaml.ScalarNode || v.Tag == "!!null" {
		return "", v.bad("write a text, in quotes if it has colons, braces or brackets", "%s is not a single value", v.name)
	}
	return v.Value, nil
}

func (v value) texts() (all []string, err error) {
	for _, one := range v.list() {
		s, err := one.text()
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func (v value) duration() (time.Duration, error) {
	s, err := v.text()
	if err != nil {
		return 0, err
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, v.bad("write it with its unit: 150ms, 2s, 1m30s", "%s: %q is not a positive duration", v.name, s)
	}
	return d, nil
}

// share reads "10%" as 0.1.
func (v value) share() (float64, error) {
	text, err := v.text()
	if err != nil {
		return 0, err
	}
	o, err := option.Parse("", []option.Option{{Name: v.name, Kind: option.Percent, Default: text}}, nil)
	if err != nil {
		return 0, v.bad("write it in percent: 10%", "%s: %q is no share", v.name, text)
	}
	return o.Percent(v.name), nil
}

func (v value) boolean() (bool, error) {
	s, err := v.text()
	if err != nil {
		return false, err
	}
	if s != "true" && s != "false" {
		return false, v.bad("write true or false", "%s: %q is neither true nor false", v.name, s)
	}
	return s == "true", nil
}
