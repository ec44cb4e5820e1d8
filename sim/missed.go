package sim

import (
	"fmt"
	"slices"
	"strings"

	"recount/history"
	"recount/internal/hint"
)

// missed says what the traps of a fault have waited for in vain, and what they have met in its place: "no message of kind Vote was
// sent; sent were Ping, Pong". It is "" where there is nothing of the kind.
func missed(traps []*trap) string {
	if len(traps) == 0 {
		return ""
	}
	if slices.ContainsFunc(traps, func(t *trap) bool { return t.sprung > 0 }) {
		return mistyped(traps)
	}
	t := traps[0]
	most, kinds := 0, []string{}
	for _, t := range traps {
		most = max(most, t.passed)
		kinds = append(kinds, t.kinds...)
	}
	what, came := "message", "sent"
	if t.Kind != "" {
		what += " of kind " + t.Kind
	}
	switch {
	case t.Do == history.Finish && t.On == history.Receives:
		came = "received"
	case t.Do == history.Finish && t.On == history.Leads:
		what, came, kinds = "beginning to lead", "seen", nil
	case t.Do == history.Finish && t.On == history.Rises:
		what, came, kinds = "other term", "seen", nil
	}
	if most > 0 {
		return fmt.Sprintf("it waits for the %s that comes after %d others at one node, and no more than %d were %s", what, t.Pass, most, came)
	}
	words := fmt.Sprintf("no %s was %s", what, came)
	if slices.Sort(kinds); len(kinds) > 0 {
		words += fmt.Sprintf("; %s were %s", came, strings.Join(slices.Compact(kinds), ", "))
	}
	return words
}

// mistyped says so where messages were held until the end for a kind that nobody sends, and that is nearly a word for something else.
func mistyped(traps []*trap) string {
	until := traps[0].Until
	_, timed := traps[0].Wait()
	if until == "" || timed || slices.Contains(history.Untils(), until) || slices.ContainsFunc(traps, func(t *trap) bool { return t.came }) {
		return ""
	}
	near := hint.Near(until, history.Untils())
	if near == "" {
		return ""
	}
	return fmt.Sprintf("what it held was to wait until a message of kind %s is sent, and none was: did you mean until: %s?", until, near)
}
