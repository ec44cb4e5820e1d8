package recounttest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness"
	"recount/report"
)

func TestWhichRunsAreMadeAgain(t *testing.T) {
	verdict := func(v, expect checkers.Verdict, promised bool) report.Verdict {
		return report.Verdict{Result: checkers.Result{Verdict: v}, Expect: expect, Promised: promised}
	}
	shown := verdict(checkers.Invalid, checkers.Invalid, true)
	missed := verdict(checkers.Valid, checkers.Invalid, false)
	broken := verdict(checkers.Invalid, checkers.Unknown, true)
	weak := verdict(checkers.Invalid, checkers.Unknown, false)
	for _, c := range []struct {
		status int
		vs     []report.Verdict
		again  bool
	}{
		{harness.StatusHeld, []report.Verdict{shown, weak}, false},
		{harness.StatusUnknown, []report.Verdict{weak}, true},
		{harness.StatusBroken, []report.Verdict{missed, weak}, true},
		{harness.StatusBroken, []report.Verdict{missed, broken}, false},
		{harness.StatusBroken, []report.Verdict{broken}, false},
		{harness.StatusBroken, []report.Verdict{verdict(checkers.Invalid, checkers.Valid, false)}, false},
	} {
		require.Equal(t, c.again, worthAnother(&report.Run{Status: c.status, Verdicts: c.vs}), "%+v", c)
	}
}
