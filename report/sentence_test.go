package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness/record"
)

// A scenario is made to show something. On another target nothing is expected, but who runs it wants to know.
func TestWhatAScenarioIsAboutAndWasNotDecidedIsTold(t *testing.T) {
	of := func(sticky checkers.Verdict) string {
		r := judged(
			record.Verdict{Result: checkers.Result{Property: "elects", Verdict: checkers.Valid}, Promised: true},
			record.Verdict{Result: checkers.Result{Property: "sticky-leader", Verdict: sticky}},
		)
		r.Plan.Scenario, r.Plan.Shows = "non-sticky-leader", []string{"sticky-leader"}
		r.Stand()
		return Sentence(r)
	}
	require.Equal(t, "Every promise held. Not decided, and what non-sticky-leader is about: sticky-leader.", of(checkers.Unknown))
	require.Equal(t, "Every promise held.", of(checkers.Valid))
	require.Equal(t, "Every promise held. Known weaknesses seen: sticky-leader.", of(checkers.Invalid))
}
