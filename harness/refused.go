package harness

import (
	"fmt"
	"slices"
)

// refused is what nodes asked for that virtual time does not have, and got an error for: whoever looks for why a server does not work
// finds it in no log of the server's own.
type refused struct {
	of   map[string][]string // by node
	said []string
}

// add takes up what a node asked for, "to start /bin/true", and tells of it if no node did before.
func (r *refused) add(node, what string, tell func(format string, args ...any)) {
	if r.of == nil {
		r.of = map[string][]string{}
	}
	if !slices.Contains(r.of[node], what) {
		r.of[node] = append(r.of[node], what)
	}
	if !slices.Contains(r.said, what) {
		r.said = append(r.said, what)
		tell("%s asked for what virtual time does not have, and was refused: %s", node, what)
	}
}

// words is what is to be said of a node that ended; "" if it was refused nothing.
func (r *refused) words(node string) string {
	if len(r.of[node]) == 0 {
		return ""
	}
	return fmt.Sprintf(", refused what virtual time does not have (%s),", r.of[node][0])
}
