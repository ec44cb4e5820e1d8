package history

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// garbled returns where JSON has text that encoding/json would read as something else, so that two that differ may become one: bytes that
// are no UTF-8, or half of a pair of surrogates. It is -1 if there is none.
func garbled(b []byte) int {
	if !utf8.Valid(b) {
		return bytes.IndexRune(b, utf8.RuneError) // which finds a byte that is none, too
	}
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		switch r := escaped(b[i:]); {
		case !utf16.IsSurrogate(r):
		case utf16.DecodeRune(r, escaped(b[min(i+6, len(b)):])) == utf8.RuneError:
			return i
		default:
			i += 6 // and the other half
		}
		i++ // of what follows, a second backslash begins nothing
	}
	return -1
}

// escaped is the rune that b begins with the escape of, as in \u00e9; 0 if it begins with none.
func escaped(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0
	}
	r, _ := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(r)
}
