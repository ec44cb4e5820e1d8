package suite

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/looked"
)

// fieldsOf are the names of a struct's fields in JSON, in their order.
func fieldsOf(t reflect.Type) (names []string) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			names = append(names, fieldsOf(f.Type)...)
		case f.IsExported() && name != "-":
			names = append(names, name)
		}
	}
	return names
}

// docs/ci.md lists what --json prints of a suite, field by field.
func TestTheFieldsOfTheJSONAreInTheDocument(t *testing.T) {
	b, err := os.ReadFile("../../docs/ci.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(b), "| of | field | what it tells |\n|---|---|---|\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	quoted := regexp.MustCompile("`([^`]+)`")
	told, words := map[string][]string{}, map[string]string{}
	for _, row := range strings.Split(strings.TrimSpace(table), "\n") {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		require.Len(t, cells, 3, row)
		for _, field := range quoted.FindAllStringSubmatch(cells[1], -1) {
			told[cells[0]] = append(told[cells[0]], field[1])
			words[cells[0]+" "+field[1]] = cells[2]
		}
	}
	require.Equal(t, map[string][]string{
		"the suite":  fieldsOf(reflect.TypeFor[Outcome]()),
		"a run":      fieldsOf(reflect.TypeFor[Run]()),
		"a weakness": fieldsOf(reflect.TypeFor[Weakness]()),
		"of `known`": fieldsOf(reflect.TypeFor[KnownState]()),
		"`looked`":   fieldsOf(reflect.TypeFor[looked.Looked]()),
	}, told)
	for _, state := range []State{Held, Allowed, Broken, Undecided, Unstarted, Failed, NotRun, Interrupted} {
		require.Contains(t, words["a run state"], "`"+string(state)+"`")
	}
}
