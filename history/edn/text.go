package edn

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Strings and characters.

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
				return nil, problem(line, col, "a string that is not UTF-8")
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
		switch {
		case d >= 0 && d < base:
		case base == 8 && !inWord(r.ahead(0)):
			i = digits
			continue
		case base == 8:
			return nil, r.fail(`want up to three digits of 0 to 7 after \, and no letter behind them`)
		default:
			return nil, r.fail(`want four hexadecimal digits after \u`)
		}
		r.next()
		code = code*base + d
	}
	if base == 8 && code > 0o377 {
		return nil, r.fail(`\%o is no character: want \0 to \377`, code)
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
	rest, err := r.token()
	if err != nil {
		return nil, err
	}
	word := string(b) + string(rest)
	one, size := utf8.DecodeRuneInString(word)
	if size == len(word) && one != utf8.RuneError {
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
	return nil, problem(line, col, `\%s is no character: want \a, \newline, \return, \space, \tab or \u0000`, word)
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
