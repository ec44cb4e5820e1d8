package edn

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "recount/internal/testseed" // the same cases each time
)

// equal is Clojure's = sentence by sentence of https://clojure.org/guides/equality, with no thought of how long it takes.
func equal(a, b any) bool {
	switch a := a.(type) {
	case nil, bool, Char, string, Symbol, Keyword:
		return a == b
	case int64, float64, Number: // of the same category, and numerically the same
		categoryA, valueA := category(a)
		categoryB, valueB := category(b)
		return categoryA == categoryB && valueA != nil && valueB != nil && valueA.Cmp(valueB) == 0 || infinite(a) && a == b
	case Vector:
		return sequential(a, b)
	case List:
		return sequential(a, b)
	case Set:
		b, ok := b.(Set)
		return ok && len(a) == len(b) && each(len(a), func(i int) bool {
			return some(len(b), func(j int) bool { return equal(a[i], b[j]) })
		})
	case Map:
		b, ok := b.(Map)
		return ok && len(a) == len(b) && each(len(a), func(i int) bool {
			return some(len(b), func(j int) bool { return equal(a[i].Key, b[j].Key) && equal(a[i].Value, b[j].Value) })
		})
	case Tagged: // records: the same type, and the same keys and values
		b, ok := b.(Tagged)
		return ok && a.Tag == b.Tag && equal(a.Value, b.Value)
	}
	panic(fmt.Sprintf("%T", a))
}

func sequential(a []any, b any) bool {
	var other []any
	switch b := b.(type) {
	case Vector:
		other = b
	case List:
		other = b
	default:
		return false
	}
	return len(a) == len(other) && each(len(a), func(i int) bool { return equal(a[i], other[i]) })
}

func each(n int, holds func(int) bool) bool { return !some(n, func(i int) bool { return !holds(i) }) }

func some(n int, holds func(int) bool) bool {
	for i := range n {
		if holds(i) {
			return true
		}
	}
	return false
}

func infinite(v any) bool {
	f, ok := v.(float64)
	return ok && math.IsInf(f, 0)
}

// category of a number, and its value: that of a float nil if it is none or infinite.
func category(v any) (string, *big.Rat) {
	switch v := v.(type) {
	case int64:
		return "integer or ratio", new(big.Rat).SetInt64(v)
	case float64:
		return "floating point", new(big.Rat).SetFloat64(v)
	case Number:
		if decimal, ok := strings.CutSuffix(string(v), "M"); ok {
			r, _ := new(big.Rat).SetString(decimal)
			return "decimal", r
		}
		r, _ := new(big.Rat).SetString(strings.TrimSuffix(string(v), "N"))
		return "integer or ratio", r
	}
	return "", nil
}

func TestWhatClojureHoldsEqual(t *testing.T) {
	read := func(text string) any {
		v, err := one(text)
		require.NoError(t, err, text)
		return v
	}
	for _, same := range [][]string{
		{"5", "5N", "0x5", "10/2", "+5"},
		{"1.0", "1.", "1e0", "10E-1"},
		{"1.0M", "1M", "1.00M", "10e-1M"},
		{"0.0", "-0.0"}, {"0M", "0.00M", "-0M", "0E9M"}, {"0", "0N", "-0"},
		{"1/3", "2/6"}, {"12345678901234567890", "12345678901234567890N"},
		{"[1 2]", "(1 2)", "[1N 2]", "^{:line 1} (1 2)"},
		{"{:a 1, :b 2}", "{:b 2, :a 1}", "{:b 2N :a 1}"},
		{"#:a{:b 1}", "{:a/b 1}"},
		{"#{1 2 3}", "#{3 2 1N}"}, {"{[1] #{(2)}}", "{(1) #{[2]}}"},
		{`"a"`, `"\u0061"`}, {`\a`, `\u0061`},
		{`#inst "2020-01-01"`, `#inst "2020-01-01T00:00:00.000-00:00"`, `#inst "2020-01-01T01:00:00.0009+01:00"`},
		{`#uuid "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6"`, `#uuid "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"`},
		{"#a.B{:c 1 :d 2}", "#a.B{:d 2 :c 1}"},
	} {
		for _, a := range same {
			x, ok := Canonical(read(a))
			require.True(t, ok)
			y, ok := Canonical(read(same[0]))
			require.True(t, ok)
			require.Equal(t, x, y, a)
		}
	}
	for _, different := range [][]string{
		{"1", "1.0", "1M", `"1"`, `\1`, ":1", "[1]", "{1 1}", "#{1}", "nil", "true", "a", ":a", `"a"`, `\a`, "#a 1", "#b 1", "1.5", "1.5M", "3/2"},
		{"[1 2]", "[2 1]", "#{1 2}", "{1 2}", "[1 [2]]", "[[1] 2]", "[1 2 3]", "[]", "nil"},
		{"{}", "[]", "#{}", `""`, "#a {}", "nil", "false"},
		{"[1 2]", "[1 2.0]"}, {":a/b", "a/b", `"a/b"`}, {"#a{:c 1}", "{:c 1}"}, {"##Inf", "##-Inf"},
	} {
		seen := map[string]string{}
		for _, a := range different {
			x, ok := Canonical(read(a))
			require.True(t, ok)
			require.NotContains(t, seen, x, "%s and %s", a, seen[x])
			seen[x] = a
		}
	}
	for _, none := range []string{"##NaN", "[##NaN]", "#{##NaN}", "{1 [##NaN]}", "{##NaN 1}", "#a ##NaN"} {
		_, ok := Canonical(read(none))
		require.False(t, ok, none)
		require.False(t, equal(read(none), read(none)), none)
	}
}

// values are small, so that many of them are equal, written as differently as may be.
func values(depth int) *rapid.Generator[any] {
	scalars := []string{
		"nil", "true", "0", "0N", "1", "1N", "-1", "1.0", "1.00M", "1M", "0.0", "-0.0", "0M", "1/2", "2/4", "##Inf", ":a", "a", `"a"`, `\a`, ":b/a",
		"1e25", "10000000000000000000000000", "1E25M", "10000000000000000000000000M",
	}
	return rapid.Custom(func(t *rapid.T) any {
		kind := rapid.IntRange(0, 9).Draw(t, "kind")
		if depth == 0 || kind < 4 {
			v, err := one(rapid.SampledFrom(scalars).Draw(t, "scalar"))
			require.NoError(t, err)
			return v
		}
		items := rapid.SliceOfNDistinct(values(depth-1), 0, 3, func(v any) string { text, _ := Canonical(v); return text }).Draw(t, "items")
		switch kind {
		case 4, 5:
			return Vector(items)
		case 6:
			return List(items)
		case 7:
			return Set(items)
		case 8:
			return Tagged{"a", Vector(items)}
		}
		m := Map{}
		for _, k := range items {
			m = append(m, Pair{k, values(depth-1).Draw(t, "value")})
		}
		return m
	})
}

// again writes a value in another way that is equal.
func again(t *rapid.T, v any) any {
	items := func(all []any) (other []any) {
		other = []any{}
		for _, v := range all {
			other = append(other, again(t, v))
		}
		return other
	}
	switch v := v.(type) {
	case int64:
		return rapid.SampledFrom([]any{v, Number(fmt.Sprintf("%dN", v))}).Draw(t, "int")
	case Vector:
		return rapid.SampledFrom([]any{Vector(items(v)), List(items(v))}).Draw(t, "sequence")
	case List:
		return again(t, Vector(v))
	case Set:
		return Set(rapid.Permutation(items(v)).Draw(t, "set"))
	case Map:
		m := Map{}
		for _, p := range v {
			m = append(m, Pair{again(t, p.Key), again(t, p.Value)})
		}
		return Map(rapid.Permutation(m).Draw(t, "map"))
	case Tagged:
		return Tagged{v.Tag, again(t, v.Value)}
	}
	return v
}

func TestCanonicalTextsAreTheSameWhereClojuresEqualityHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := values(3).Draw(t, "a")
		for _, b := range []any{values(3).Draw(t, "b"), again(t, a)} {
			x, _ := Canonical(a)
			y, _ := Canonical(b)
			require.Equal(t, equal(a, b), x == y, "%s and %s", Text(a), Text(b))
		}
		require.True(t, equal(a, again(t, a)))
		text, ok := Canonical(a)
		require.True(t, ok)
		back, err := one(text)
		require.NoError(t, err)
		require.True(t, equal(a, back), "%s, written as %s", Text(a), text)
	})
}
