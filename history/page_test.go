package history

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestThePageNamesEveryOpAndField holds docs/history.md to the code: each kind of op and each field has a row that begins with what the
// code knows of it.
func TestThePageNamesEveryOpAndField(t *testing.T) {
	page, err := os.ReadFile("../docs/history.md")
	require.NoError(t, err)
	named := map[string]int{}
	for line := range strings.Lines(string(page)) {
		if row := strings.SplitN(line, " | ", 4); len(row) == 4 && strings.HasPrefix(row[0], "| `") {
			named[strings.Join(row[:3], " | ")]++
		}
	}
	for _, row := range pageRows() {
		require.Positive(t, named[row], "docs/history.md lacks a row %s | …", row)
		delete(named, row)
	}
	require.Empty(t, slices.Collect(maps.Keys(named)), "no such op or field")
}

// pageRows are the first three columns of each row: an op, whether it must name its node, and in which types it carries a value; or a
// field of a value, what it is, and whether it is left out where it says nothing.
func pageRows() (rows []string) {
	var values []any
	for _, k := range kinds {
		for ; k != nil; k = k.next {
			if k.name == Snapshot {
				continue // of a test
			}
			node := "may"
			if k.ofNode {
				node = "must"
			}
			rows = append(rows, fmt.Sprintf("| `%s` | %s | %s", k.name, node, valueWords(k)))
			if k.value != nil {
				values = append(values, k.value.into(new(Op)))
			}
		}
	}
	for dimension := range readers { // what they read is told by the types that register them
		rows = append(rows, fmt.Sprintf("| `%s` | list | optional", dimension))
	}
	values = append(values, &Part{}, &Member{}, &HandOver{}, &Trap{}, &CPU{}, &Memory{}, &Own{})
	seen := map[reflect.Type]bool{}
	for _, v := range values {
		rows = fieldRows(rows, reflect.TypeOf(v).Elem(), seen)
	}
	slices.Sort(rows)
	return slices.Compact(rows)
}

// valueWords says which types of op carry a value.
func valueWords(k *kind) string {
	var must, may []string
	for t := Invoke; t <= Info; t++ {
		switch k.need(t) {
		case needed:
			must = append(must, t.String())
		case optional:
			may = append(may, t.String())
		}
	}
	all := int(Info)
	switch {
	case len(must) == all:
		return "always"
	case len(may) == all:
		return "may"
	case len(must)+len(may) == 0:
		return "never"
	case len(may) == 0:
		return strings.Join(must, ", ")
	}
	return cmp.Or(strings.Join(must, ", "), "never") + "; may: " + strings.Join(may, ", ")
}

const needed, optional = must, may

func fieldRows(rows []string, of reflect.Type, seen map[reflect.Type]bool) []string {
	if of.Kind() != reflect.Struct || seen[of] {
		return rows
	}
	seen[of] = true
	for i := range of.NumField() {
		f := of.Field(i)
		tag, told := f.Tag.Lookup("json")
		name, omit, _ := strings.Cut(tag, ",")
		inner := f.Type
		for inner.Kind() == reflect.Slice || inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if f.Anonymous {
			rows = fieldRows(rows, inner, seen)
			continue
		}
		needs := "told"
		if omit != "" {
			needs = "optional"
		}
		if !told { // written by hand
			name = strings.ToLower(f.Name)
			if of == reflect.TypeFor[View]() && name != "role" && name != "term" {
				needs = "optional"
			}
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s", name, typeWords(f.Type), needs))
		rows = fieldRows(rows, inner, seen)
	}
	return rows
}

func typeWords(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return "ns"
	case t == reflect.TypeFor[Role](), t.Kind() == reflect.String:
		return "text"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Slice:
		return "list"
	case t.Kind() == reflect.Map, t.Kind() == reflect.Struct:
		return "object"
	case t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64:
		return "number from 0"
	case t.Kind() == reflect.Float64:
		return "number"
	}
	return "whole number"
}
