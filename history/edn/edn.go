// Package edn reads and writes the extensible data notation (https://github.com/edn-format/edn), which Jepsen's histories
// are written in. It tells where a text is malformed, and reads texts of any length form by form.
package edn

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// What there is besides nil, bool, int64, float64 and string.
type (
	// Keyword is a keyword without its colon.
	Keyword string
	// Symbol is a symbol.
	Symbol string
	// Char is a character.
	Char rune
	// Number is one that neither int64 nor float64 holds exactly, as it was written: 12345678901234567890N, 1.5M, 1/3.
	Number string
	// Vector is [1 2].
	Vector []any
	// List is (1 2).
	List []any
	// Set is #{1 2}, in the order in which it was written.
	Set []any
	// Map is {:a 1}, in the order in which it was written.
	Map []Pair
	// Pair is a key of a map with its value.
	Pair struct{ Key, Value any }
	// Tagged is a value with a tag: #inst "2020-01-01".
	Tagged struct {
		Tag   string
		Value any
	}
)

// Get returns the value of a key, and false if the map has none.
func (m Map) Get(key any) (any, bool) {
	for _, p := range m {
		if p.Key == key {
			return p.Value, true
		}
	}
	return nil, false
}

// Items returns what a vector, list or set holds, and false for anything else.
func Items(v any) ([]any, bool) {
	switch v := v.(type) {
	case Vector:
		return v, true
	case List:
		return v, true
	case Set:
		return v, true
	}
	return nil, false
}

// Text writes a value.
func Text(v any) string { return string(Append(nil, v)) }

// Append writes a value to the end of b. It must be of the types that Reader returns.
func Append(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "nil"...)
	case bool:
		return strconv.AppendBool(b, v)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case float64:
		return appendFloat(b, v)
	case string:
		return appendString(b, v)
	case Keyword:
		return append(append(b, ':'), v...)
	case Symbol:
		return append(b, v...)
	case Number:
		return append(b, v...)
	case Char:
		return appendChar(b, v)
	case Vector:
		return appendItems(append(b, '['), v, ']')
	case List:
		return appendItems(append(b, '('), v, ')')
	case Set:
		return appendItems(append(b, "#{"...), v, '}')
	case Map:
		b = append(b, '{')
		for i, p := range v {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = Append(append(Append(b, p.Key), ' '), p.Value)
		}
		return append(b, '}')
	case Tagged:
		return Append(append(append(append(b, '#'), v.Tag...), ' '), v.Value)
	}
	panic(fmt.Sprintf("edn: no notation for a %T", v))
}

func appendItems(b []byte, items []any, end byte) []byte {
	for i, v := range items {
		if i > 0 {
			b = append(b, ' ')
		}
		b = Append(b, v)
	}
	return append(b, end)
}

func appendFloat(b []byte, f float64) []byte {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	switch s {
	case "NaN":
		s = "##NaN"
	case "+Inf":
		s = "##Inf"
	case "-Inf":
		s = "##-Inf"
	default:
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
	}
	return append(b, s...)
}

func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch r {
		case '"', '\\':
			b = append(b, '\\', byte(r))
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		default:
			if r < ' ' {
				b = fmt.Appendf(b, `\u%04x`, r)
			} else {
				b = utf8.AppendRune(b, r)
			}
		}
	}
	return append(b, '"')
}

var charNames = map[string]rune{
	"newline": '\n', "return": '\r', "space": ' ', "tab": '\t', "formfeed": '\f', "backspace": '\b',
}

func appendChar(b []byte, c Char) []byte {
	for name, r := range charNames {
		if r == rune(c) {
			return append(append(b, '\\'), name...)
		}
	}
	if c < ' ' || c == 0x7f {
		return fmt.Appendf(b, `\u%04x`, rune(c))
	}
	return utf8.AppendRune(append(b, '\\'), rune(c))
}
