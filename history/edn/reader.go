package edn

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// SyntaxError tells where a text is malformed, and what was expected there.
type SyntaxError struct {
	Line, Column int // from 1; columns count bytes
	Problem      string
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
	known     map[string]string // short words met before, so that each is kept once
}

// NewReader returns a reader of a text.
func NewReader(r io.Reader) *Reader {
	size := 64 << 10
	if short, ok := r.(interface{ Len() int }); ok {
		size = min(size, short.Len()+1)
	}
	return &Reader{r: bufio.NewReaderSize(r, size), line: 1, col: 1, known: map[string]string{}}
}

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
	return &SyntaxError{r.line, r.col, fmt.Sprintf(format, args...)}
}

// ended is what is wrong with a text that ends where something was expected.
func (r *Reader) ended(err error, want string) error {
	if errors.Is(err, io.EOF) {
		return r.fail("the text ends: want %s", want)
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
		case c == ' ' || c == ',' || '\t' <= c && c <= '\r':
			if r.depth == 0 {
				r.budget = maxForm
			}
			if _, err := r.next(); err != nil {
				return 0, err
			}
		case c == ';':
			for c != '\n' {
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
		return nil, &SyntaxError{line, col, fmt.Sprintf("a map with a key that lacks its value: %s", Text(items[len(items)-1]))}
	}
	m := make(Map, 0, len(items)/2)
	keys := make([]any, 0, len(items)/2)
	for i := 0; i < len(items); i += 2 {
		m, keys = append(m, Pair{items[i], items[i+1]}), append(keys, items[i])
	}
	if twice, ok := double(keys); ok {
		return nil, &SyntaxError{line, col, fmt.Sprintf("a map with the key %s twice", twice)}
	}
	return m, nil
}

// double returns one that is there twice.
func double(all []any) (string, bool) {
	if len(all) < 2 {
		return "", false
	}
	if len(all) <= 16 {
		words := true
		for i, v := range all {
			if _, word := v.(Keyword); !word {
				words = false
				break
			}
			for _, o := range all[:i] {
				if o == v {
					return Text(v), true
				}
			}
		}
		if words {
			return "", false
		}
	}
	seen := map[string]bool{}
	for _, v := range all {
		t := Text(v)
		if seen[t] {
			return t, true
		}
		seen[t] = true
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
		if twice, ok := double(items); ok {
			return nil, &SyntaxError{line, col, fmt.Sprintf("a set with %s twice", twice)}
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
		return nil, &SyntaxError{line, col, fmt.Sprintf("##%s: want ##Inf, ##-Inf or ##NaN", word)}
	}
	tag, err := r.token()
	if err != nil {
		return nil, err
	}
	namespace, spaced := strings.CutPrefix(tag, ":")
	if !isSymbol(tag) && (!spaced || !isSymbol(namespace)) {
		return nil, &SyntaxError{line, col, fmt.Sprintf("#%s: want a tag, { or _ after #", tag)}
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
		return nil, &SyntaxError{line, col, fmt.Sprintf("#%s: want a map after it", tag)}
	}
	for i := range m { // #:a{:b 1} is {:a/b 1}
		if k, ok := m[i].Key.(Keyword); ok && !strings.Contains(string(k), "/") {
			m[i].Key = Keyword(namespace) + "/" + k
		}
	}
	return m, nil
}

func (r *Reader) text() (any, error) {
	line, col := r.line, r.col
	r.next()
	b := r.buf[:0]
	for {
		c, err := r.next()
		if err != nil {
			return nil, r.ended(err, fmt.Sprintf(`", for the string that opened in line %d, column %d`, line, col))
		}
		switch c {
		case '"':
			r.buf = b
			if !utf8.Valid(b) {
				return nil, &SyntaxError{line, col, "a string that is not UTF-8"}
			}
			return r.keep(b), nil
		case '\\':
			if c, err = r.next(); err != nil {
				return nil, r.ended(err, "an escaped character")
			}
			if b, err = r.escape(b, c); err != nil {
				return nil, err
			}
		default:
			b = append(b, c)
		}
	}
}

func (r *Reader) escape(b []byte, c byte) ([]byte, error) {
	if i := strings.IndexByte(`trnbf"\`, c); i >= 0 {
		return append(b, "\t\r\n\b\f\"\\"[i]), nil
	}
	base, digits := rune(16), 4
	switch {
	case c == 'u':
	case '0' <= c && c <= '7':
		base, digits = 8, 3
	default:
		return nil, r.fail(`\%c in a string: want one of \t \r \n \b \f \" \\ \u0000`, c)
	}
	code, first := rune(0), 0
	if base == 8 {
		code, first = rune(c-'0'), 1
	}
	for i := first; i < digits; i++ {
		d := hex(r.ahead(0))
		if d < 0 || d >= base {
			if base == 8 {
				break
			}
			return nil, r.fail(`want four hexadecimal digits after \u`)
		}
		r.next()
		code = code*base + d
	}
	if !utf8.ValidRune(code) {
		if lo, ok := r.surrogate(code); ok {
			return utf8.AppendRune(b, lo), nil
		}
		return nil, r.fail(`\u%04x is no character`, code)
	}
	return utf8.AppendRune(b, code), nil
}

// surrogate reads the second half of a character that Java writes as two.
func (r *Reader) surrogate(high rune) (rune, bool) {
	if high < 0xd800 || high > 0xdbff || r.ahead(0) != '\\' || r.ahead(1) != 'u' {
		return 0, false
	}
	low := rune(0)
	for i := 2; i < 6; i++ {
		d := hex(r.ahead(i))
		if d < 0 {
			return 0, false
		}
		low = low*16 + d
	}
	if low < 0xdc00 || low > 0xdfff {
		return 0, false
	}
	for range 6 {
		r.next()
	}
	return (high-0xd800)<<10 + (low - 0xdc00) + 0x10000, true
}

func hex(c byte) rune {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0')
	case 'a' <= c && c <= 'f':
		return rune(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return rune(c-'A') + 10
	}
	return -1
}

func (r *Reader) char() (any, error) {
	line, col := r.line, r.col
	r.next()
	c, err := r.next() // whatever it is
	if err != nil {
		return nil, r.ended(err, `a character after \`)
	}
	b := []byte{c}
	for !utf8.FullRune(b) {
		if c, err = r.next(); err != nil {
			return nil, r.ended(err, "the rest of a character")
		}
		b = append(b, c)
	}
	rest, err := r.letters()
	if err != nil {
		return nil, err
	}
	word := string(b) + rest
	one, size := utf8.DecodeRuneInString(word)
	if size == len(word) && one != utf8.RuneError && strings.IndexByte(" \n\r\t", word[0]) < 0 {
		return Char(one), nil
	}
	if named, ok := charNames[word]; ok {
		return Char(named), nil
	}
	if code, ok := number(word[1:], 16); word[0] == 'u' && len(word) == 5 && ok && utf8.ValidRune(code) {
		return Char(code), nil
	}
	if code, ok := number(word[1:], 8); word[0] == 'o' && len(word) <= 4 && ok && code <= 0o377 {
		return Char(code), nil
	}
	return nil, &SyntaxError{line, col, fmt.Sprintf(`\%s is no character: want \a, \newline, \return, \space, \tab or \u0000`, word)}
}

func number(digits string, base rune) (code rune, ok bool) {
	for i := range len(digits) {
		d := hex(digits[i])
		if d < 0 || d >= base {
			return 0, false
		}
		code = code*base + d
	}
	return code, len(digits) > 0
}

// letters reads the letters and digits that come next.
func (r *Reader) letters() (string, error) {
	var b []byte
	for {
		c := r.ahead(0)
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' {
			if _, err := r.next(); err != nil {
				return "", err
			}
			b = append(b, c)
			continue
		}
		return string(b), nil
	}
}

// token reads what comes next up to something that cannot be part of a word.
func (r *Reader) token() (string, error) {
	b := r.buf[:0]
	for {
		p, err := r.r.Peek(1)
		if len(p) == 0 && err != io.EOF {
			return "", err
		}
		if len(p) == 0 || !inWord(p[0]) {
			r.buf = b
			return r.keep(b), nil
		}
		if _, err := r.next(); err != nil {
			return "", err
		}
		b = append(b, p[0])
	}
}

// keep returns b as a string. Jepsen's histories have the same few words all over.
func (r *Reader) keep(b []byte) string {
	if s, ok := r.known[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(s) <= 64 && len(r.known) < 1<<16 {
		r.known[s] = s
	}
	return s
}

// inWord reports whether c may be part of a number, a symbol or a keyword.
func inWord(c byte) bool {
	return c >= 0x80 || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		strings.IndexByte(".*+!-_?$%&=<>:#/'|", c) >= 0
}

// word reads nil, true, false, a number, a symbol or a keyword.
func (r *Reader) word() (any, error) {
	line, col := r.line, r.col
	w, err := r.token()
	if err != nil {
		return nil, err
	}
	if w == "" {
		c, err := r.next()
		if err != nil {
			return nil, err
		}
		return nil, &SyntaxError{line, col, fmt.Sprintf("%q: want a number, a string, a symbol, a keyword or an opening bracket", c)}
	}
	v, err := wordOf(w)
	if err != nil {
		return nil, &SyntaxError{line, col, err.Error()}
	}
	return v, nil
}

func wordOf(w string) (any, error) {
	switch w {
	case "nil":
		return nil, nil
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	digits := strings.TrimLeft(w, "+-")
	switch {
	case w[0] == ':':
		if !isSymbol(w[1:]) {
			return nil, fmt.Errorf("%s is no keyword", w)
		}
		return Keyword(w[1:]), nil
	case len(w)-len(digits) <= 1 && digits != "" && '0' <= digits[0] && digits[0] <= '9':
		return numberOf(w)
	case !utf8.ValidString(w):
		return nil, errors.New("a word that is not UTF-8")
	case !isSymbol(w):
		return nil, fmt.Errorf("%s is no symbol", w)
	}
	return Symbol(w), nil
}

// isSymbol reports whether w may be a symbol, or a keyword behind its colon.
func isSymbol(w string) bool {
	if w == "" || w == "/" {
		return w == "/"
	}
	space, name, split := strings.Cut(w, "/")
	if split && (space == "" || name == "" || !isName(space)) {
		return false
	}
	if !split {
		name = w
	}
	return utf8.ValidString(w) && isName(name)
}

func isName(s string) bool {
	return s[0] != ':' && s[0] != '#' && s[len(s)-1] != ':'
}
