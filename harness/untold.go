package harness

import (
	"errors"
	"fmt"
	"strings"

	"recount/internal/hint"
	"recount/targets/specfile"
)

// untold are answers that name a leader by an id which no node had told to be its own when they came. Most are of the moment
// before the leader is first asked: only ids that nobody ever tells are worth a word.
type untold struct{ all []*naming }

// naming are the answers of one node that name one id.
type naming struct {
	*specfile.Stranger
	node    string
	answers int
	first   error
}

// add takes note of an answer that could not be read, if it is such a one.
func (u *untold) add(node string, err error) bool {
	var s *specfile.Stranger
	if !errors.As(err, &s) {
		return false
	}
	for _, n := range u.all {
		if n.node == node && n.Called == s.Called {
			n.answers++
			return true
		}
	}
	u.all = append(u.all, &naming{s, node, 1, err})
	return true
}

// still returns how many answers of each node name an id that nobody has told by now, and the first of them.
func (u *untold) still() (answers map[string]int, first error) {
	answers = map[string]int{}
	for _, n := range u.all {
		if n.Told() {
			continue
		}
		if answers[n.node] += n.answers; first == nil {
			first = n.first
		}
	}
	return answers, first
}

// words say which of what, "Answers", name a leader whose id nobody has told; "" if there are none.
func (u *untold) words(what string) string {
	answers, first := u.still()
	if first == nil {
		return ""
	}
	return fmt.Sprintf("%s that name a leader whose id no node told: %s. The first: %s.", what, ofEach(answers), hint.Line(first))
}

// ofEach says how many there are of each node.
func ofEach(answers map[string]int) string {
	var nodes []string
	for _, node := range sortedKeys(answers) {
		nodes = append(nodes, fmt.Sprintf("%d of %s", answers[node], node))
	}
	return strings.Join(nodes, ", ")
}
