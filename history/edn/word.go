package edn

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Words: nil, true, false, numbers, symbols and keywords.

// rawToken reads what comes next up to something that cannot be part of a word. It holds until the next call.
func (r *Reader) rawToken() ([]byte, error) {
	b := r.buf[:0]
	for {
		p, err := r.r.Peek(1)
		if len(p) == 0 && err != io.EOF {
			return nil, err
		}
		if len(p) == 0 || !inWord(p[0]) {
			r.buf = b
			return b, nil
		}
		c := p[0] // p holds until the next peek
		if c >= 0x80 && r.wideSpace() > 0 {
			r.buf = b
			return b, nil
		}
		b = append(b, c)
		if _, err := r.next(); err != nil {
			return nil, err
		}
	}
}

// token is rawToken as a string.
func (r *Reader) token() (string, error) {
	b, err := r.rawToken()
	return string(b), err
}

// What is kept of words and strings: Jepsen's histories have the same few all over, others a new one each time.
const (
	keptLength = 64
	keptCount  = 1 << 16
)

// keep returns b as a string.
func (r *Reader) keep(b []byte) string {
	if s, ok := r.texts[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(s) <= keptLength && len(r.texts) < keptCount {
		r.texts[s] = s
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
	b, err := r.rawToken()
	if err != nil {
		return nil, err
	}
	if v, known := r.words[string(b)]; known {
		return v, nil
	}
	w := string(b)
	if w == "" {
		c, err := r.next()
		if err != nil {
			return nil, err
		}
		return nil, problem(line, col, "%q: want a number, a string, a symbol, a keyword or an opening bracket", c)
	}
	v, err := wordOf(w)
	if err != nil {
		return nil, problem(line, col, "%v", err)
	}
	if len(w) <= keptLength && len(r.words) < keptCount {
		r.words[w] = v
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
	case !utf8.ValidString(w):
		return nil, errors.New("a word that is not UTF-8")
	case len(w)-len(digits) <= 1 && digits != "" && '0' <= digits[0] && digits[0] <= '9':
		return numberOf(w)
	case w[0] == ':':
		if !isSymbol(w) || w == ":" {
			return nil, fmt.Errorf("%s is no keyword", w)
		}
		return Keyword(w[1:]), nil
	case !isSymbol(w):
		return nil, fmt.Errorf("%s is no symbol", w)
	}
	return Symbol(w), nil
}

// symbols are what Clojure takes for one, or for a keyword.
var symbols = regexp.MustCompile(`^:?([^0-9/].*/)?(/|[^0-9/][^/]*)$`)

// isSymbol reports whether w may be a symbol, or a keyword with its colon.
func isSymbol(w string) bool {
	p := symbols.FindStringSubmatch(w)
	return p != nil && utf8.ValidString(w) && !strings.HasSuffix(p[1], ":/") && !strings.HasSuffix(p[2], ":") &&
		!strings.HasPrefix(w, "::") && !strings.Contains(w[1:], "::") && !strings.HasPrefix(w, "://")
}
