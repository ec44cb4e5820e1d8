package edn

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SyntaxError tells where a text is malformed, and what was expected there.
type SyntaxError struct {
	Line, Column int // from 1; columns count bytes
	Problem      string
	Ended        bool // the text ends where something was expected: it was cut off
}

// Unwrap returns io.ErrUnexpectedEOF where the text was cut off.
func (e *SyntaxError) Unwrap() error {
	if e.Ended {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// problem is an error at a place that was read already.
func problem(line, column int, format string, args ...any) error {
	return &SyntaxError{Line: line, Column: column, Problem: fmt.Sprintf(format, args...)}
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Problem)
}

// What a form may come to, so that no text takes more memory than that.
const (
	maxDepth = 200      // forms within forms
	maxForm  = 16 << 20 // bytes of a form
)

// Reader reads a text form by form.
type Reader struct {
	r         *bufio.Reader
	line, col int // of the next byte
	budget    int // bytes that the form under way may yet take
	depth     int
	buf       []byte
	texts     map[string]string // short strings met before, so that each is kept once
	words     map[string]any    // and words, with what they are
}

// NewReader returns a reader of a text. A byte order mark before it is no part of it.
func NewReader(r io.Reader) *Reader {
	size := 64 << 10
	if short, ok := r.(interface{ Len() int }); ok {
		size = min(size, short.Len()+1)
	}
	br := bufio.NewReaderSize(r, max(size, 16))
	if b, _ := br.Peek(len(mark)); string(b) == mark {
		br.Discard(len(mark))
	}
	return &Reader{r: br, line: 1, col: 1, texts: map[string]string{}, words: map[string]any{}}
}

// mark is what some editors write before a text in UTF-8.
const mark = "\ufeff"

// At returns where the next byte is.
func (r *Reader) At() (line, column int) { return r.line, r.col }

// Next reads the next form. At the end of the text the error is io.EOF, and a *SyntaxError where the text is malformed.
func (r *Reader) Next() (any, error) {
	if _, err := r.Peek(); err != nil {
		return nil, err
	}
	r.budget, r.depth = maxForm, 0
	return r.form()
}

// Peek returns the first byte of the next form without reading it, io.EOF if there is none. Space, comments and what
// #_ discards are passed over.
func (r *Reader) Peek() (byte, error) {
	r.budget, r.depth = maxForm, 0
	return r.peek()
}

// Skip reads the one byte that Peek has returned.
func (r *Reader) Skip() { r.next() }

func (r *Reader) fail(format string, args ...any) error {
	return problem(r.line, r.col, format, args...)
}

// ended is what is wrong with a text that ends where something was expected.
func (r *Reader) ended(err error, want string) error {
	if errors.Is(err, io.EOF) {
		return &SyntaxError{r.line, r.col, "the text ends: want " + want, true}
	}
	return err
}

func (r *Reader) next() (byte, error) {
	c, err := r.r.ReadByte()
	if err != nil {
		return 0, err
	}
	if r.budget--; r.budget < 0 {
		return 0, r.fail("a form of more than %d MiB", maxForm>>20)
	}
	if c == '\n' {
		r.line, r.col = r.line+1, 1
	} else {
		r.col++
	}
	return c, nil
}

func (r *Reader) ahead(n int) byte {
	b, _ := r.r.Peek(n + 1)
	if len(b) <= n {
		return 0
	}
	return b[n]
}

// peek passes over what is no form and returns the first byte of the next one.
func (r *Reader) peek() (byte, error) {
	for {
		b, err := r.r.Peek(1)
		if len(b) == 0 {
			return 0, err
		}
		switch c := b[0]; {
		case isSpace(c) || c >= 0x80 && r.wideSpace() > 0:
			if r.depth == 0 {
				r.budget = maxForm
			}
			for range max(r.wideSpace(), 1) {
				if _, err := r.next(); err != nil {
					return 0, err
				}
			}
		case c == ';':
			for c != '\n' && c != '\r' {
				if c, err = r.next(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					return 0, err
				}
			}
		case c == '#' && r.ahead(1) == '_':
			r.next()
			r.next()
			if c, err := r.deeper(r.peek); err != nil {
				return 0, r.ended(err, "a form for #_ to discard")
			} else if strings.IndexByte(")]}", c) >= 0 {
				return 0, r.fail("%q: want a form for #_ to discard", c)
			}
			if _, err := r.form(); err != nil {
				return 0, err
			}
		default:
			return c, nil
		}
	}
}

// isSpace reports whether c parts forms: what Java calls white space, and commas.
func isSpace(c byte) bool {
	return c == ' ' || c == ',' || '\t' <= c && c <= '\r' || 0x1c <= c && c <= 0x1f
}

// wideSpace returns how many bytes of a space come next that is none of ASCII's, 0 if something else does.
func (r *Reader) wideSpace() int {
	if c := r.ahead(0); c < 0xe1 || c > 0xe3 {
		return 0
	}
	b, _ := r.r.Peek(utf8.UTFMax)
	if c, size := utf8.DecodeRune(b); unicode.In(c, unicode.Z) && c != 0x2007 && c != 0x202f {
		return size
	}
	return 0
}

// deeper calls f one level down.
func (r *Reader) deeper(f func() (byte, error)) (byte, error) {
	if r.depth++; r.depth > maxDepth {
		return 0, r.fail("more than %d forms within each other", maxDepth)
	}
	defer func() { r.depth-- }()
	return f()
}

// form reads the form that begins at the next byte.
func (r *Reader) form() (any, error) {
	if r.depth++; r.depth > maxDepth {
		return nil, r.fail("more than %d forms within each other", maxDepth)
	}
	defer func() { r.depth-- }()
	switch c := r.ahead(0); c {
	case '(':
		items, err := r.items(')')
		return List(items), err
	case '[':
		items, err := r.items(']')
		return Vector(items), err
	case '{':
		return r.pairs()
	case '"':
		return r.text()
	case '\\':
		return r.char()
	case '#':
		return r.dispatch()
	case '^':
		return r.described()
	case ')', ']', '}':
		return nil, r.fail("%q closes nothing", c)
	}
	return r.word()
}

// items reads what is between brackets.
func (r *Reader) items(end byte) ([]any, error) {
	line, col := r.line, r.col
	r.next()
	items := []any{}
	for {
		c, err := r.peek()
		if err != nil {
			return nil, r.ended(err, fmt.Sprintf("%q, for what opened in line %d, column %d", end, line, col))
		}
		if c == end {
			r.next()
			return items, nil
		}
		if strings.IndexByte(")]}", c) >= 0 {
			return nil, r.fail("%q: want %q, for what opened in line %d, column %d", c, end, line, col)
		}
		v, err := r.form()
		if err != nil {
			return nil, err
		}
		items = append(items, v)
	}
}

func (r *Reader) pairs() (any, error) {
	line, col := r.line, r.col
	items, err := r.items('}')
	if err != nil {
		return nil, err
	}
	if len(items)%2 != 0 {
		return nil, problem(line, col, "a map with a key that lacks its value: %s", Text(items[len(items)-1]))
	}
	m := make(Map, 0, len(items)/2)
	for i := 0; i < len(items); i += 2 {
		m = append(m, Pair{items[i], items[i+1]})
	}
	return m, unique(m, line, col)
}

// unique returns an error if a map has a key twice.
func unique(m Map, line, col int) error {
	if twice, ok := double(len(m), func(i int) any { return m[i].Key }); ok {
		return problem(line, col, "a map with the key %s twice", twice)
	}
	return nil
}

// double returns one of n values that equals another.
func double(n int, value func(i int) any) (string, bool) {
	if n < 2 {
		return "", false
	}
	if n <= 16 { // as ops are
		words := true
		for i := 0; i < n && words; i++ {
			_, words = value(i).(Keyword)
			for j := 0; j < i && words; j++ {
				if value(i) == value(j) {
					return Text(value(i)), true
				}
			}
		}
		if words {
			return "", false
		}
	}
	seen := map[string]bool{}
	for i := range n {
		if t, ok := Canonical(value(i)); ok {
			if seen[t] {
				return t, true
			}
			seen[t] = true
		}
	}
	return "", false
}

// dispatch reads what begins with #.
func (r *Reader) dispatch() (any, error) {
	line, col := r.line, r.col
	r.next()
	switch r.ahead(0) {
	case '{':
		items, err := r.items('}')
		if err != nil {
			return nil, err
		}
		if twice, ok := double(len(items), func(i int) any { return items[i] }); ok {
			return nil, problem(line, col, "a set with %s twice", twice)
		}
		return Set(items), nil
	case '#':
		r.next()
		word, err := r.token()
		if err != nil {
			return nil, err
		}
		if f, ok := symbolic[word]; ok {
			return f, nil
		}
		return nil, problem(line, col, "##%s: want ##Inf, ##-Inf or ##NaN", word)
	}
	switch r.ahead(0) {
	case '^':
		return r.described()
	case '<':
		return nil, problem(line, col, "#<…>: Clojure printed what it has no notation for, and cannot read it either")
	}
	tag, err := r.token()
	if err != nil {
		return nil, err
	}
	namespace, spaced := strings.CutPrefix(tag, ":")
	switch {
	case spaced && (!isSymbol(namespace) || strings.ContainsAny(namespace, "/:")):
		return nil, problem(line, col, "#%s: want a namespace after #:, as in #:a{:b 1}", tag)
	case !spaced && !isSymbol(tag):
		return nil, problem(line, col, "#%s: want a tag, { or _ after #", tag)
	}
	if c, err := r.peek(); err != nil {
		return nil, r.ended(err, "a form after the tag #"+tag)
	} else if strings.IndexByte(")]}", c) >= 0 {
		return nil, r.fail("%q: want a form after the tag #%s", c, tag)
	}
	v, err := r.form()
	if err != nil {
		return nil, err
	}
	if !spaced {
		return Tagged{tag, v}, nil
	}
	m, ok := v.(Map)
	if !ok {
		return nil, problem(line, col, "#%s: want a map after it", tag)
	}
	for i := range m { // #:a{:b 1 :_/c 2} is {:a/b 1 :c 2}
		switch k := m[i].Key.(type) {
		case Keyword:
			m[i].Key = Keyword(within(namespace, string(k)))
		case Symbol:
			m[i].Key = Symbol(within(namespace, string(k)))
		default:
			continue
		}
		if key := Text(m[i].Key); !isSymbol(key) { // :0 is a keyword, and :a/0 is none
			return nil, problem(line, col, "a map with the key %s: there is no such name", key)
		}
	}
	return m, unique(m, line, col)
}

// within is a name in a namespace, unless it has one of its own.
func within(namespace, name string) string {
	if own, rest, ok := strings.Cut(name, "/"); name != "/" && ok {
		if own == "_" {
			return rest
		}
		return name
	}
	return namespace + "/" + name
}

// described reads a form with what is said about it, ^{:line 1} [2], which does not count.
func (r *Reader) described() (any, error) {
	line, col := r.line, r.col
	r.next()
	var about, v any
	for _, to := range []*any{&about, &v} {
		c, err := r.peek()
		if err != nil {
			return nil, r.ended(err, "a form after what ^ says about it")
		} else if strings.IndexByte(")]}", c) >= 0 {
			return nil, r.fail("%q: want a form after what ^ says about it", c)
		}
		if *to, err = r.form(); err != nil {
			return nil, err
		}
	}
	switch about.(type) {
	case Symbol, Keyword, string, Map:
	default:
		return nil, problem(line, col, "^: want a symbol, a keyword, a string or a map after it")
	}
	switch v.(type) {
	case Symbol, Vector, List, Set, Map, Tagged:
		return v, nil
	}
	return nil, problem(line, col, "^: nothing can be said about %s", Text(v))
}
