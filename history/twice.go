package history

import (
	"bytes"
	"encoding/json"
)

// twice returns the first key that an object within valid JSON has a second time, and the column at which it ends there, from 1; 0 if
// there is none. Which of the two counts nobody can tell.
func twice(b []byte) (key string, column int) {
	type named struct {
		object int // by number
		key    string
	}
	seen := make(map[named]bool, 16)
	var open []int // objects, by number, and lists, 0, from the outermost in
	objects := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{':
			objects++
			open = append(open, objects)
		case '[':
			open = append(open, 0)
		case '}', ']':
			open = open[:len(open)-1]
		case '"':
			from := i
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if !isKey(b[i+1:]) {
				break
			}
			k := named{open[len(open)-1], unquoted(b[from : i+1])}
			if seen[k] {
				return k.key, i + 1
			}
			seen[k] = true
		}
	}
	return "", 0
}

// isKey reports whether what comes before that text is a key.
func isKey(after []byte) bool {
	for _, c := range after {
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		}
		return c == ':'
	}
	return false
}

// unquoted is what a JSON text says.
func unquoted(b []byte) (s string) {
	if bytes.IndexByte(b, '\\') < 0 || json.Unmarshal(b, &s) != nil {
		return string(b[1 : len(b)-1])
	}
	return s
}
