package strict_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"recount/internal/hint"
	"recount/internal/strict"
)

type step struct {
	At    time.Duration `yaml:"at"`
	Nodes []string      `yaml:"nodes,omitempty"`
}

type file struct {
	About string            `yaml:"about"`
	Count int               `yaml:"count"`
	Steps []step            `yaml:"steps"`
	With  map[string]string `yaml:"with"`
	Size  size              `yaml:"size"`
	Own   string            `yaml:"-"`
}

// size has a reader of texts of its own.
type size int

func (s *size) UnmarshalText(text []byte) error {
	if string(text) != "large" {
		return hint.Add(fmt.Errorf("unknown size %q", text), "there is but large")
	}
	*s = 9
	return nil
}

func TestAFileIsRead(t *testing.T) {
	var f file
	decode := func(text string) *yaml.Node {
		root, err := strict.Decode([]byte(text), &f)
		require.NoError(t, err)
		return root
	}
	root := decode("about: &a text\ncount: 3\nsteps: [{at: 1s, nodes: [n1]}, {at: 2s}]\nwith: {any: *a}\n")
	require.Len(t, strict.Entries(root, "steps"), 2)
	require.Equal(t, file{About: "text", Count: 3, Steps: []step{{time.Second, []string{"n1"}}, {At: 2 * time.Second}},
		With: map[string]string{"any": "text"}}, f)
	require.Nil(t, decode("# nothing\n"))
	_, err := strict.Parse(nil)
	require.ErrorIs(t, err, strict.ErrEmpty)
	require.NotNil(t, decode("---\nabout: text\n---\n# nothing\n"), "one document, marked off")
}

// bomb is a text of a few lines that comes to ten to the power of lines values.
func bomb(lines int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x]\n")
	for i := range lines {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	return b.String()
}

func TestEveryMistakeHasItsPlaceAndTheWayOut(t *testing.T) {
	for text, want := range map[string][2]string{
		"abuot: x":                        {`line 1, column 1: unknown field "abuot"`, `did you mean "about"?`},
		"about: x\nsteps:\n  - {aat: 1s}": {`line 3, column 6: unknown field "aat"`, `did you mean "at"?`},
		"own: x":                          {`line 1, column 1: unknown field "own"`, "known: about, count, size, steps, with"},
		"about: x\ncount: many":           {`line 2, column 8: count is "many": want a whole number`, "in digits: 3"},
		"about: x\nsteps: [{at: soon}]":   {`line 2, column 14: at is "soon": want a duration`, "1.5s"},
		"steps: [{at: 3}]":                {`line 1, column 14: at is "3": want a duration`, "its unit: 3s"},
		"count: 3\nabout: [x]":            {"line 2, column 8: about is a list: want text", "one word"},
		"count: {a: 3}":                   {"line 1, column 8: count is a mapping: want a whole number", "in digits"},
		"count: 99999999999999999999":     {`line 1, column 8: count is "99999999999999999999": want a whole number`, "in digits"},
		"steps: soon":                     {`line 1, column 8: steps is "soon": want a list`, "- a"},
		"steps: [soon]":                   {`line 1, column 9: steps is "soon": want fields with values`, "field: value"},
		"steps: [{nodes: n1}]":            {`line 1, column 17: nodes is "n1": want a list`, "[a, b]"},
		"with: {a: {b: c}}":               {"line 1, column 11: a is a mapping: want text", "one word"},
		"about: x\nsize: small":           {`line 2, column 7: unknown size "small"`, "but large"},
		"size: [large]":                   {"line 1, column 7: size is a list: want text", "one word"},
		"[a, b]":                          {"line 1, column 1: a list: want fields with values", "field: value"},
		"steps:\n  -\n  - {at: 1s}":       {"line 2, column 4: an entry that says nothing", "leave it out"},
		"steps: [{nodes: [n1, ~]}]":       {"line 1, column 22: an entry that says nothing", "leave it out"},
		"about: [":                        {"line 1, column 1: this is no YAML: did not find expected node content", "one comma"},
		"about: x\nsteps:\n  - {at: 1s nodes: [n1]}\ncount: 3":          {"line 3, column 1: this is no YAML: did not find expected ',' or '}'", "one comma"},
		"about: x\nsteps:\n  - {at: 1s, nodes: [n1}\n":                  {"line 3, column 1: this is no YAML: did not find expected ',' or ']'", "one comma"},
		"about: x\nsteps:\n  - {at: 1s,, nodes: [n1]}\n":                {"line 3, column 1: this is no YAML: did not find expected node content", "one comma"},
		"about: x\nsteps:\n  - {at: 1s\n":                               {"line 3, column 1: this is no YAML: did not find expected ',' or '}'", "one comma"},
		"count: 3\nabout: x: y":                                         {"line 2, column 1: this is no YAML: mapping values are not allowed", "goes in quotes"},
		"count: 3\n  about: x\n":                                        {"this is no YAML: mapping values are not allowed", "indentation"},
		"about: x\nabout: y":                                            {`line 2, column 8: mapping key "about" already defined at line 1`, "leave one of them out"},
		"about: x\n---\nabout: y":                                       {"line 2, column 1: another document begins here", "leave out the line ---"},
		"about: x\n---\n---\nabout: y":                                  {"line 3, column 1: another document begins here", "leave out the line ---"},
		bomb(6):                                                         {"the file comes to more than 200000 keys and values", "aliases"},
		"about: &a [*a]":                                                {"line 1, column 12: *a stands for something that it is part of", "write it out"},
		"about: " + strings.Repeat("[", 200) + strings.Repeat("]", 200): {"more than 100 lists and mappings in each other", "no field"},
		"about: " + strings.Repeat("x", strict.MaxBytes):                {"the file has 1048583 bytes: no more than 1048576 are read", "right file"},
	} {
		_, err := strict.Decode([]byte(text), new(file))
		require.ErrorContains(t, err, want[0])
		require.Contains(t, hint.Of(err), want[1])
		require.NotContains(t, err.Error(), "\n")
		var e *strict.Error
		require.ErrorAs(t, err, &e)
	}
}
