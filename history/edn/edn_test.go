package edn

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func one(text string) (any, error) { return NewReader(strings.NewReader(text)).Next() }

func TestEveryKindOfFormIsRead(t *testing.T) {
	for text, want := range map[string]any{
		"nil": nil, "true": true, "false": false,
		"0": int64(0), "-17": int64(-17), "+5": int64(5), "9223372036854775807": int64(math.MaxInt64),
		"9223372036854775808": Number("9223372036854775808"), "7N": Number("7N"), "1.5M": Number("1.5M"), "1/3": Number("1/3"),
		"1.5": 1.5, "-2e3": -2000.0, "1.": 1.0, "1E-2": 0.01, "##Inf": math.Inf(1), "##-Inf": math.Inf(-1),
		"a": Symbol("a"), "/": Symbol("/"), "a.b/c": Symbol("a.b/c"), "+": Symbol("+"), "-a": Symbol("-a"), "nil?": Symbol("nil?"),
		"->x": Symbol("->x"), "..": Symbol(".."), "a'": Symbol("a'"), "ä": Symbol("ä"),
		":a": Keyword("a"), ":a/b": Keyword("a/b"), ":ok": Keyword("ok"), ":1": Keyword("1"),
		`"a\tb\"\\\u00e4\101"`: "a\tb\"\\äA", `"\ud83d\ude00"`: "😀", "\"two\nlines\"": "two\nlines",
		`\a`: Char('a'), `\newline`: Char('\n'), `\u0041`: Char('A'), `\o101`: Char('A'), `\ä`: Char('ä'), `\(`: Char('('), `\u`: Char('u'),
		"[1 [2] ]": Vector{int64(1), Vector{int64(2)}}, "(1,2)": List{int64(1), int64(2)}, "#{1 2}": Set{int64(1), int64(2)},
		"{:a 1, :b nil}":   Map{{Keyword("a"), int64(1)}, {Keyword("b"), nil}},
		"{[1] 2}":          Map{{Vector{int64(1)}, int64(2)}},
		"#:a{:b 1 :c/d 2}": Map{{Keyword("a/b"), int64(1)}, {Keyword("c/d"), int64(2)}},
		"0x1F":             int64(31), "-0xff": int64(-255), "017": int64(15), "2r101": int64(5), "36rZZ": int64(1295), "0N": Number("0N"),
		"0x8000000000000000": Number("9223372036854775808"), "4/2": int64(2), "-2/6": Number("-1/3"), "1e400": math.Inf(1), "00.5": 0.5,
		"[1\u20022\u001c3]": Vector{int64(1), int64(2), int64(3)}, ";said\r1": int64(1), "\ufeff[1]": Vector{int64(1)}, "a/b/c": Symbol("a/b/c"),
		":/": Keyword("/"), "^{:line 1} [2]": Vector{int64(2)}, "#^:a ^b c": Symbol("c"), `\ `: Char(' '), "#_1 #:a{:_/b 1, c 2}": Map{{Keyword("b"), int64(1)}, {Symbol("a/c"), int64(2)}},
		`#object[java.util.Foo$bar__1 0x3ab "x"]`:    Tagged{"object", Vector{Symbol("java.util.Foo$bar__1"), int64(939), "x"}},
		`#inst "2020-01-01"`:                         Tagged{"inst", "2020-01-01"},
		"#jepsen.history.Op{}":                       Tagged{"jepsen.history.Op", Map{}},
		"#a #b 1":                                    Tagged{"a", Tagged{"b", int64(1)}},
		"; said\n #_ nothing #_ #_ 1 2 [#_3 4 ;5\n]": Vector{int64(4)},
	} {
		got, err := one(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
		again, err := one(Text(got))
		require.NoError(t, err, text)
		require.Equal(t, got, again, "written again: %s", Text(got))
	}
	nan, err := one("##NaN")
	require.NoError(t, err)
	require.Equal(t, "##NaN", Text(nan))
}

func TestWhatIsMalformedIsPointedAt(t *testing.T) {
	for text, want := range map[string]string{
		"[1 2":             "line 1, column 5: the text ends: want ']', for what opened in line 1, column 1",
		"[1\n {:a 2]":      `line 2, column 7: ']': want '}', for what opened in line 2, column 2`,
		"]":                "line 1, column 1: ']' closes nothing",
		"{:a}":             "line 1, column 1: a map with a key that lacks its value: :a",
		"{:a 1 :a 2}":      "line 1, column 1: a map with the key :a twice",
		"{1 1 1 2}":        "line 1, column 1: a map with the key 1 twice",
		"#{1 1}":           "line 1, column 1: a set with 1 twice",
		`"abc`:             `line 1, column 5: the text ends: want ", for the string that opened in line 1, column 1`,
		`"\x"`:             `line 1, column 4: \x in a string: want one of`,
		`"\u12"`:           `line 1, column 6: want four hexadecimal digits`,
		`"\ud83d"`:         "is no character",
		`\bell`:            `line 1, column 1: \bell is no character`,
		`\`:                "the text ends: want a character",
		"08":               "08 is no number",
		"37r1":             "want a base of 2 to 36",
		"2r3":              "2r3 is no number",
		"1/0":              "it divides by zero",
		"1e9999999999M":    "its exponent is too large",
		`"\777"`:           `\777 is no character: want \0 to \377`,
		`"\18"`:            "want up to three digits of 0 to 7",
		`\ab`:              `\ab is no character`,
		"{1 a 1N b}":       "a map with the key 1 twice",
		"#{[1] (1)}":       "a set with [1] twice",
		"#:a{:b 1 :a/b 2}": "line 1, column 1: a map with the key :a/b twice",
		"#:/{:b 1}":        "line 1, column 1: #:/: want a namespace after #:",
		"#:a{:0 1}":        "a map with the key :a/0: there is no such name",
		"#:a/b{:c 1}":      "want a namespace after #:",
		"#:{:b 1}":         "want a namespace after #:",
		"#<Object 1>":      "Clojure printed what it has no notation for",
		"^{:a 1} 2":        "nothing can be said about 2",
		"^1 a":             "want a symbol, a keyword, a string or a map after it",
		"[^:a]":            "want a form after what ^ says",
		"://b":             "://b is no keyword",
		":a:":              ":a: is no keyword",
		"a::b":             "a::b is no symbol",
		"1x":               "1x is no number",
		"1.5.2":            "is no number",
		"::a":              "::a is no keyword",
		":":                ": is no keyword",
		"a/":               "a/ is no symbol",
		"/a":               "/a is no symbol",
		"##In":             "want ##Inf",
		"#":                "line 1, column 1: #: want a tag",
		"#1":               "#1: want a tag, { or _ after #",
		"#a":               "the text ends: want a form after the tag #a",
		"[#a]":             "']': want a form after the tag #a",
		"#:a 1":            "want a map after it",
		"[#_]":             "want a form for #_ to discard",
		"#_":               "the text ends: want a form for #_",
		"\x00":             `line 1, column 1: '\x00': want a number`,
		"@a":               "'@': want a number",
		"\"\xff\"":         "a string that is not UTF-8",
		"a\xff":            "a word that is not UTF-8",
		"A\xe2 ":           "a word that is not UTF-8",
		":a\xff":           "not UTF-8",
	} {
		_, err := one(text)
		var s *SyntaxError
		require.ErrorAs(t, err, &s, text)
		require.ErrorContains(t, err, want, text)
	}
	_, err := one(" ;nothing")
	require.Equal(t, io.EOF, err)
}

func TestFormsAreReadOneByOne(t *testing.T) {
	r := NewReader(strings.NewReader("[1 2]\n {3 4}"))
	c, err := r.Peek()
	require.NoError(t, err)
	require.Equal(t, byte('['), c)
	r.Skip()
	v, err := r.Next()
	require.NoError(t, err)
	require.Equal(t, int64(1), v)
	v, err = r.Next()
	require.NoError(t, err)
	require.Equal(t, int64(2), v)
	c, err = r.Peek()
	require.NoError(t, err)
	require.Equal(t, byte(']'), c)
	r.Skip()
	_, err = r.Peek()
	require.NoError(t, err)
	line, column := r.At()
	require.Equal(t, []int{2, 2}, []int{line, column})
	_, err = r.Next()
	require.NoError(t, err)
	_, err = r.Next()
	require.Equal(t, io.EOF, err)
}

// endless is a text without an end.
type endless struct{ b byte }

func (e endless) Read(b []byte) (int, error) {
	copy(b, bytes.Repeat([]byte{e.b}, len(b)))
	return len(b), nil
}

func TestNoFormTakesAllMemory(t *testing.T) {
	for c, want := range map[byte]string{
		'(': "more than 200 forms within each other", 'a': "a form of more than 16 MiB", ';': "a form of more than 16 MiB",
		0: `line 1, column 1: '\x00'`,
	} {
		_, err := NewReader(endless{c}).Next()
		var s *SyntaxError
		require.ErrorAs(t, err, &s, "%q", c)
		require.ErrorContains(t, err, want, "%q", c)
	}
	for _, begin := range []string{`"`, "[1 ", "{:a [", "#_", "#a "} {
		_, err := NewReader(io.MultiReader(strings.NewReader(begin), endless{'x'})).Next()
		require.ErrorContains(t, err, "a form of more than 16 MiB", begin)
	}
	_, err := one(strings.Repeat("#_", 1000) + "1")
	require.ErrorContains(t, err, "forms within each other")
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`[{:type :invoke, :f :cas, :value [1 2], :process 0, :time 1} #jepsen.history.Op{:index 0 :error ["a" \b 1.5 nil]}]`,
		`#{a/b} ##Inf #_x "\u00e4" \newline 1N -2.5e3M #:a{:b 1}`, "#a#b(", "1/2 +", "; c",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := NewReader(strings.NewReader(text))
		for {
			v, err := r.Next()
			if err != nil {
				return
			}
			written := Text(v)
			again, err := one(written)
			require.NoError(t, err, "%q written as %q", text, written)
			require.Equal(t, written, Text(again))
		}
	})
}
