package overlay

import (
	"fmt"
	"regexp"
	"strings"
)

// apply makes one change to a file's text. An error says why it does not fit.
func (p patch) apply(text string) (string, error) {
	from := strings.Index(text, "\n"+p.in) + 1
	if from == 0 {
		return "", fmt.Errorf("there is no %q", p.in)
	}
	to := len(text)
	if end := strings.Index(text[from:], "\n}\n"); end >= 0 {
		to = from + end + len("\n}\n")
	}
	re := regexp.MustCompile(p.match)
	body := text[from:to]
	if n := len(re.FindAllStringIndex(body, -1)); n != 1 {
		return "", fmt.Errorf("%q matches %d times in %q, not once", p.match, n, p.in)
	}
	return text[:from] + re.ReplaceAllString(body, p.with) + text[to:], nil
}
