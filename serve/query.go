package serve

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"recount/internal/term"
)

// query is what a request asks for. A parameter that is empty asks for nothing. The first that is not what it may be is kept, and answered with a
// sentence that names it, what was given and what is allowed; until then it is read as one that is empty.
type query struct {
	url.Values
	status int // that the first wrong one is answered with; 0 if there is none
	words  string
}

func queryOf(r *http.Request) *query { return &query{Values: r.URL.Query()} }

// refuses reports whether something in a request is not what it may be, and has answered it then.
func (s *Server) refuses(w http.ResponseWriter, r *http.Request, q *query) bool {
	if q.status != 0 {
		s.fail(w, r, q.status, q.words)
	}
	return q.status != 0
}

// refuse takes note of a parameter that is not what it may be: words say what is.
func (q *query) refuse(status int, name, words string) {
	if q.status != 0 {
		return
	}
	given := "is missing"
	if text := q.Get(name); text != "" {
		given = "is " + strconv.Quote(term.Clip(text, 60))
	}
	q.status, q.words = status, fmt.Sprintf("%s %s: %s.", name, given, words)
}

// want is refuse for a parameter that is to be something else.
func (q *query) want(name, what string) { q.refuse(http.StatusBadRequest, name, "want "+what) }

// whole is a whole number of least or more. One that is more than most is most.
func (q *query) whole(name string, otherwise, least, most int) int {
	text := q.Get(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text) // of one that is too large, the largest
	if err != nil && !errors.Is(err, strconv.ErrRange) || n < least {
		q.want(name, fmt.Sprintf("a whole number, %d or more", least))
		return otherwise
	}
	return min(n, most)
}

// number is a number within bounds.
func (q *query) number(name string, otherwise, least, most float64) float64 {
	text := q.Get(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseFloat(text, 64)
	if err == nil && n >= least && n <= most {
		return n
	}
	q.want(name, fmt.Sprintf("a number from %.0f to %.0f", least, most))
	return otherwise
}

// time is a length of time of least or more, which is written as in example; nil where none is asked for.
func (q *query) time(name, what, example string, least time.Duration) *time.Duration {
	text := q.Get(name)
	if text == "" {
		return nil
	}
	d, err := time.ParseDuration(text)
	if err == nil && d >= least {
		return &d
	}
	q.want(name, fmt.Sprintf("%s, up to %dh, with a unit, as in %s=%s", what, math.MaxInt64/time.Hour, name, example))
	return nil
}

// instant is a time of a run; nil where none is asked for.
func (q *query) instant() *time.Duration {
	return q.time("at", "a time since the run began", "12.5s", 0)
}

// one is one of a few words.
func (q *query) one(name, otherwise string, of []string) string {
	text := cmp.Or(q.Get(name), otherwise)
	if text == otherwise || slices.Contains(of, text) {
		return text
	}
	q.want(name, "one of "+strings.Join(of, ", "))
	return otherwise
}

// known is the ID of something among the results.
func (q *query) known(name, what string, is func(id string) bool) string {
	id := q.Get(name)
	if id == "" || is(id) {
		return id
	}
	q.refuse(http.StatusNotFound, name, "there is no such "+what+" among the results")
	return ""
}

// need asks for parameters that cannot be left out.
func (q *query) need(what string, names ...string) {
	for _, name := range names {
		if q.Get(name) == "" {
			q.want(name, what)
		}
	}
}
