// Package term sets text as terminals show it: in lines of a width, and in colours where they are wanted.
package term

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Colour is how a terminal is to show a text; "" is as it is.
type Colour string

// The colours.
const (
	Bold   Colour = "1"
	Dim    Colour = "2"
	Red    Colour = "1;31"
	Green  Colour = "32"
	Yellow Colour = "33"
)

// Pen writes in colours if it is true.
type Pen bool

// Paint gives a text a colour.
func (p Pen) Paint(c Colour, s string) string {
	if !bool(p) || c == "" || s == "" {
		return s
	}
	return "\x1b[" + string(c) + "m" + s + "\x1b[0m"
}

// Printable is what a terminal is to be shown of words that others have chosen, such as a system under test: they are not to command
// it. What is no character, and what is one of control, a new line too, is a space.
func Printable(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || c == utf8.RuneError {
			return ' '
		}
		return c
	}, s)
}

// Clip cuts a text off that has more than so many characters: "…" is the last of them then.
func Clip(s string, most int) string {
	n, end := 0, 0
	for i := range s {
		if n == most-1 {
			end = i
		}
		if n++; n > most {
			return s[:end] + "…"
		}
	}
	return s
}

// Wrap breaks a text between words into lines of at most width characters; a longer word has a line of its own.
func Wrap(s string, width int) (lines []string) {
	line, length := "", 0
	for _, word := range strings.Fields(s) {
		n := utf8.RuneCountInString(word)
		if length > 0 && length+1+n > width {
			lines = append(lines, line)
			line, length = "", 0
		}
		if length > 0 {
			line, length = line+" ", length+1
		}
		line, length = line+word, length+n
	}
	if length > 0 {
		lines = append(lines, line)
	}
	return lines
}
