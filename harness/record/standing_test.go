package record

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/history"
	"recount/nemesis"
)

func TestWhatAVerdictMeans(t *testing.T) {
	const none, valid, invalid = checkers.Unknown, checkers.Valid, checkers.Invalid
	for _, c := range []struct {
		is, expect                  checkers.Verdict
		promised, excused, untested bool
		want                        Meaning
		status                      int
	}{
		{is: valid, promised: true, want: Held, status: StatusHeld},
		{is: valid, want: Aside, status: StatusUnknown},
		{is: invalid, promised: true, want: Broken, status: StatusBroken},
		{is: invalid, want: Weakness, status: StatusUnknown},
		{is: invalid, excused: true, want: Excused, status: StatusUnknown},
		{is: none, promised: true, want: Undecided, status: StatusUnknown},
		{is: none, promised: true, untested: true, want: Untested, status: StatusUnknown},
		{is: none, untested: true, want: Aside, status: StatusUnknown},
		{is: invalid, expect: invalid, promised: true, want: Met, status: StatusHeld},
		{is: valid, expect: valid, want: Met, status: StatusHeld},
		{is: valid, expect: invalid, promised: true, want: NotShown, status: StatusBroken},
		{is: invalid, expect: valid, excused: true, want: Violated, status: StatusBroken},
		{is: none, expect: invalid, untested: true, want: Unseen, status: StatusUnknown},
	} {
		r := Run{History: complete(), Verdicts: []Verdict{{
			Result: checkers.Result{Verdict: c.is, Untested: c.untested}, Promised: c.promised, Excused: c.excused, Expect: c.expect,
		}}}
		r.Stand()
		require.Equal(t, c.want, r.Verdicts[0].Meaning(), "%+v", c)
		require.Equal(t, c.status, r.Status, "%+v", c)
	}
}

// Where nobody knows what was promised, each violation counts, or what is required alone.
func TestWhatAVerdictMeansWhereNobodyKnowsWhatWasPromised(t *testing.T) {
	verdicts := func() []Verdict {
		return []Verdict{
			{Result: checkers.Result{Property: "agreement", Verdict: checkers.Invalid}, Unclear: true},
			{Result: checkers.Result{Property: "elects", Verdict: checkers.Valid}, Unclear: true},
		}
	}
	r := Run{History: complete(), Verdicts: verdicts()}
	r.Stand()
	require.Equal(t, Refuted, r.Verdicts[0].Meaning())
	require.Equal(t, StatusBroken, r.Status)
	for property, want := range map[string]int{"agreement": StatusBroken, "elects": StatusHeld} {
		r = Run{History: complete(), Verdicts: verdicts(), Plan: Plan{Require: []string{property}}}
		r.Require(property)
		require.Equal(t, want, r.Status, property)
	}
	r = Run{History: complete(), Verdicts: verdicts()[1:]}
	r.Stand()
	require.Equal(t, StatusUnknown, r.Status)
}

// That all nodes stayed up is something, but no election.
func TestStayingUpIsNoElection(t *testing.T) {
	up := Verdict{Result: checkers.Result{Property: "stays-up", Verdict: checkers.Valid}, Promised: true}
	untested := Verdict{Result: checkers.Result{Property: "elects", Untested: true}, Promised: true}
	held := Verdict{Result: checkers.Result{Property: "fencing", Verdict: checkers.Valid}, Promised: true}
	lifted := Verdict{Result: checkers.Result{Property: "exclusive-leadership"}, While: "no link is broken", Excused: true}
	aside := Verdict{Result: checkers.Result{Property: "no-ping-pong"}, Excused: true} // an option has taken that promise away
	for _, c := range []struct {
		verdicts []Verdict
		want     int
	}{
		{[]Verdict{up}, StatusHeld}, // it is all that was promised
		{[]Verdict{up, untested}, StatusUnknown},
		{[]Verdict{untested, up}, StatusUnknown},
		{[]Verdict{up, untested, held}, StatusHeld},
		{[]Verdict{up, lifted}, StatusUnknown},
		{[]Verdict{up, lifted, held}, StatusHeld},
		{[]Verdict{up, aside}, StatusHeld},
	} {
		r := Run{History: complete(), Verdicts: c.verdicts}
		r.Stand()
		require.Equal(t, c.want, r.Status, "%+v", c)
	}
}

func complete(ops ...history.Op) *history.History {
	return &history.History{Ops: append(ops, history.Op{F: history.End, Type: history.OK, Process: history.Harness})}
}

func TestWhatSpoilsARun(t *testing.T) {
	inject := func(is history.Type) history.Op {
		return history.Op{F: history.Inject, Type: is, Process: history.Nemesis}
	}
	of := func(id int, f history.F, is history.Type, idle string) history.Op {
		return history.Op{F: f, Type: is, Process: history.Nemesis, Fault: &history.Fault{ID: id, Name: "crash-within", Idle: idle}}
	}
	const vain = "what it waited for never came"
	drawn, written := Plan{Faults: []string{"kill"}}, Plan{Schedule: nemesis.Schedule{{Fault: "kill"}}}
	scenario := written
	scenario.Scenario = "mine"
	for _, c := range []struct {
		plan Plan
		h    *history.History
		want Flaw
	}{
		{Plan{}, &history.History{}, CutShort},
		{Plan{}, nil, CutShort},
		{Plan{}, complete(), Flawless},
		{Plan{}, complete(inject(history.Info)), NotFaulty},
		{Plan{}, complete(inject(history.Info), inject(history.OK)), Flawless},
		{drawn, complete(), NotFaulty},
		{drawn, complete(inject(history.Fail), inject(history.OK)), Flawless},
		{drawn, complete(inject(history.Fail)), NotFaulty},
		{written, complete(), Flawless},
		{written, complete(inject(history.OK)), Flawless},
		{written, complete(inject(history.OK), inject(history.Info)), NotAll},
		{written, complete(inject(history.Fail)), NotFaulty},
		{drawn, complete(of(1, history.Inject, history.OK, ""), of(1, history.Heal, history.OK, vain)), NotFaulty},
		{drawn, complete(of(1, history.Inject, history.OK, ""), of(2, history.Inject, history.OK, ""), of(1, history.Heal, history.OK, vain)), Flawless},
		{drawn, complete(of(1, history.Inject, history.Info, ""), of(2, history.Inject, history.OK, ""), of(1, history.Heal, history.OK, vain)), Flawless},
		{written, complete(of(1, history.Inject, history.OK, ""), of(2, history.Inject, history.OK, ""), of(1, history.Heal, history.OK, vain)), Flawless},
		{scenario, complete(of(1, history.Inject, history.OK, ""), of(2, history.Inject, history.OK, ""), of(1, history.Heal, history.OK, vain)), NotAll},
		{Plan{}, complete(history.Op{F: history.Compare, Type: history.Fail, Error: "n1 is paused"}), Differs},
	} {
		held := []Verdict{{Result: checkers.Result{Verdict: checkers.Valid}, Promised: true}}
		r := Run{Plan: c.plan, History: c.h, Verdicts: held}
		r.Stand()
		require.Equal(t, c.want, r.Flaw, "%+v", c)
		require.Equal(t, c.want == Flawless, r.Status == StatusHeld, "%+v", c)
		r.Verdicts = append(held, Verdict{Result: checkers.Result{Verdict: checkers.Invalid}, Promised: true})
		r.Stand()
		require.Equal(t, StatusBroken, r.Status, "a violation is one in a flawed run as well")
	}
}
