package recounttest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness/record"
)

func TestWhichRunsAreMadeAgain(t *testing.T) {
	verdict := func(v, expect checkers.Verdict, promised bool) record.Verdict {
		return record.Verdict{Result: checkers.Result{Verdict: v}, Expect: expect, Promised: promised}
	}
	shown := verdict(checkers.Invalid, checkers.Invalid, true)
	missed := verdict(checkers.Valid, checkers.Invalid, false)
	broken := verdict(checkers.Invalid, checkers.Unknown, true)
	weak := verdict(checkers.Invalid, checkers.Unknown, false)
	for _, c := range []struct {
		status int
		vs     []record.Verdict
		again  bool
	}{
		{record.StatusHeld, []record.Verdict{shown, weak}, false},
		{record.StatusUnknown, []record.Verdict{weak}, true},
		{record.StatusBroken, []record.Verdict{missed, weak}, true},
		{record.StatusBroken, []record.Verdict{missed, broken}, false},
		{record.StatusBroken, []record.Verdict{broken}, false},
		{record.StatusBroken, []record.Verdict{verdict(checkers.Invalid, checkers.Valid, false)}, false},
	} {
		require.Equal(t, c.again, worthAnother(&record.Run{Standing: record.Standing{Status: c.status}, Verdicts: c.vs}), "%+v", c)
	}
}
