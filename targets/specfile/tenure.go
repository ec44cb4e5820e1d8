package specfile

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"recount/election"
	"recount/internal/hint"
)

// sameTenures wants a tenure in each line that may be of who leads, or in none, as it is with answers: claims with a tenure and without one are
// of two leaderships.
func (s *Spec) sameTenures(lines []value) error {
	counted := s.Observe.Tenure.Given()
	if !counted && !s.Observe.Asks() {
		counted = slices.ContainsFunc(s.Observe.Logs, func(l LogLine) bool { return l.tells("tenure") })
	}
	for i, l := range s.Observe.Logs {
		switch {
		case l.tells("tenure") && !counted:
			return lines[i].bad("observe: {tenure: FIELD}, or leave (?P<tenure>…) out", "logs: this line tells a tenure, and the node's answers tell none")
		case l.mayLead() && counted && !l.tells("tenure"):
			return lines[i].bad("(?P<tenure>…), where the line has it; else leave tenure out of all", "logs: leaders tell their tenure, and this line tells none")
		}
	}
	return nil
}

// tenure reads which of its leaderships a leader is in: a whole number, or the time at which that began, as RFC 3339 has it.
func tenure(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		began, bad := time.Parse(time.RFC3339Nano, text)
		if n, err = uint64(began.UnixNano()), bad; bad == nil && began.Unix() <= 0 { // nobody leads since then: it is a time that was never set
			n = 0
		}
	}
	switch {
	case err != nil:
		return 0, hint.Add(fmt.Errorf("tenure %q is neither a whole number nor a time of RFC 3339", text), "a count of the leaderships, or when this one began, will do")
	case n == 0:
		return 0, hint.Add(fmt.Errorf("it says that it leads, and that its tenure is %q", text), "is tenure the right field? It is to be another with each leadership, and never 0")
	}
	return n, nil
}

// inTenure is what a line of a leader's says, with the tenure that it tells, if lines do.
func (r *reader) inTenure(l LogLine, groups []string, st election.Status) (election.Status, bool, error) {
	if !l.tells("tenure") {
		return st, true, nil
	}
	n, err := tenure(group(l.Match, groups, "tenure"))
	if err != nil {
		return election.Status{}, false, err
	}
	st.Tenure = n
	return st, true, nil
}
