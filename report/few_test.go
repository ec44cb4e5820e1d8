package report

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness/record"
	"recount/history"
)

// Faults are paced by the target's silence: where that is long, a minute has room for one, and a promise that held says little.
func TestFewFaultsAreTold(t *testing.T) {
	held := record.Verdict{Result: checkers.Result{Property: "elects", Verdict: checkers.Valid}, Promised: true}
	of := func(faults int, silence, long time.Duration, plan record.Plan) string {
		r := judged(held)
		ops := []history.Op{{Process: history.Harness, Type: history.OK, F: history.Begin, Setup: &history.Setup{Bounds: history.Bounds{Silence: silence}}}}
		for range faults {
			ops = append(ops, history.Op{Process: history.Nemesis, Type: history.OK, F: history.Inject, Fault: &history.Fault{Name: "pause"}})
		}
		r.History.Ops = append(ops, r.History.Ops...)
		r.Plan = plan
		r.Plan.Time = long
		r.Stand()
		return Sentence(r)
	}
	drawn := record.Plan{Faults: []string{"pause"}}
	require.Equal(t, "Every promise held. Only 1 fault took effect: the time was short for a silence of 4s, --time 2m40s makes room for more.",
		of(1, 4*time.Second, time.Minute, drawn))
	for what, told := range map[string]string{
		"enough":    of(3, 4*time.Second, time.Minute, drawn),
		"long":      of(1, 4*time.Second, 3*time.Minute, drawn),
		"quick":     of(1, time.Second, time.Minute, drawn),
		"scheduled": of(1, 4*time.Second, time.Minute, record.Plan{}),
	} {
		require.Equal(t, "Every promise held.", told, what)
	}
}

// Who names faults expects each: a run that held and had none of some was no test of these.
func TestFaultsThatARunHadNoneOfAreTold(t *testing.T) {
	of := func(took int, faults ...string) string {
		r := judged(record.Verdict{Result: checkers.Result{Property: "elects", Verdict: checkers.Valid}, Promised: true})
		ops := []history.Op{{Process: history.Harness, Type: history.OK, F: history.Begin, Setup: &history.Setup{Bounds: history.Bounds{Silence: time.Second}}}}
		for range took {
			ops = append(ops, history.Op{Process: history.Nemesis, Type: history.OK, F: history.Inject, Fault: &history.Fault{Name: "isolate"}})
		}
		r.History.Ops = append(ops, r.History.Ops...)
		r.Plan = record.Plan{Faults: faults, Time: time.Minute}
		r.Stand()
		return Sentence(r)
	}
	require.Equal(t, "Every promise held. Of kill and pause none took effect: a longer --time draws more, another --seed others.", of(4, "isolate", "kill", "pause"))
	require.Equal(t, "Every promise held.", of(4, "isolate"))
	require.Equal(t, "Every promise held.", of(4, "isolate", "kill", "pause", "stop", "loss", "reset", "delay", "halves", "bridge"), "of all, most are not drawn")
}
