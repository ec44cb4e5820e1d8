package specfile

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"recount/internal/hint"
)

// path leads into a JSON answer: raft.term, members[0].role, ["raft.status"].lead. A leading $ may stand before it.
type path []string

var pathStep = regexp.MustCompile(`^(?:\.?([A-Za-z0-9_@/-]+)|\[([0-9]+)\]|\["([^"]+)"\])`)

func parsePath(text string) (p path, err error) {
	rest := strings.TrimPrefix(strings.TrimPrefix(text, "$"), ".")
	for rest != "" {
		m := pathStep.FindStringSubmatch(rest)
		if m == nil {
			return nil, fmt.Errorf("%q is no path into JSON at %q", text, rest)
		}
		p = append(p, m[1]+m[2]+m[3])
		rest = rest[len(m[0]):]
	}
	if len(p) == 0 {
		return nil, fmt.Errorf("%q is no path into JSON", text)
	}
	return p, nil
}

// absent is what an answer does not have: of a path that leads nowhere, the first part. Called is its own name, and beside are those
// that are there in its place.
type absent struct {
	what, called string
	beside       iter.Seq[string]
}

func (a absent) Error() string { return "the answer has no " + a.what }

// meant says which of the names that are there may have been meant, "" if none is near.
func (a absent) meant() string {
	if a.beside == nil {
		return ""
	}
	return hint.Near(a.called, slices.Sorted(a.beside))
}

// find returns what lies at the path, as text: whole numbers without a fraction, others as they are written, null as nothing.
func (p path) find(answer any) (string, error) {
	at := answer
	for i, step := range p {
		missing := absent{what: strings.Join(p[:i+1], "."), called: step}
		switch node := at.(type) {
		case map[string]any:
			next, ok := node[step]
			if !ok {
				missing.beside = maps.Keys(node)
				return "", missing
			}
			at = next
		case []any:
			n, err := strconv.Atoi(step)
			if err != nil || n < 0 || n >= len(node) {
				return "", missing
			}
			at = node[n]
		default:
			return "", missing
		}
	}
	switch leaf := at.(type) {
	case nil:
		return "", nil
	case string:
		return leaf, nil
	case bool:
		return strconv.FormatBool(leaf), nil
	case json.Number:
		text := leaf.String()
		if strings.ContainsAny(text, ".eE") { // as languages write them that have no other numbers
			text = Whole(text)
		}
		return text, nil
	}
	return "", fmt.Errorf("%s is not a single value in the answer", strings.Join(p, "."))
}
