package nemesis

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// Who runs on real servers what was found in simulation is told, before nodes are started, which faults need to know what messages mean.
func TestFaultsThatKnowWhatMessagesMean(t *testing.T) {
	step := func(fault string, with map[string]string) Schedule {
		return Schedule{{Fault: "kill", For: time.Second}, {Fault: fault, With: with, For: time.Second}}
	}
	require.NoError(t, step("crash-within", nil).CheckBlind())
	require.NoError(t, step("hold-message", map[string]string{"until": "1.5s"}).CheckBlind())
	for want, s := range map[string]Schedule{
		"step 2: lose-message: no single packet of a real server can be made to lose":          step("lose-message", nil),
		"step 2: hold-message: no messages are known to be of kind \"vote\"":                   step("hold-message", map[string]string{"kind": "vote"}),
		"step 2: hold-message: nobody knows when \"vote\" comes":                               step("hold-message", map[string]string{"until": "vote"}),
		"step 2: crash-within: no real server says in the middle of what it does that on lead": step("crash-within", map[string]string{"on": "lead"}),
	} {
		require.ErrorContains(t, s.CheckBlind(), want)
	}
	trap := history.Trap{Node: "n1", TrapState: history.TrapState{Do: history.Lose}}
	lost := Action{Fault: history.Fault{Name: "lose-message", Changes: history.ChangesOf(trap)}}
	require.ErrorContains(t, CheckBlindActions([]Action{lost}), "recorded fault 1: lose-message: no single packet")
	trap.Do = history.Hold
	trap.Until = history.UntilTerm
	lost.Fault.Changes = history.ChangesOf(trap)
	require.NoError(t, CheckBlindActions([]Action{lost}))
}

// What is drawn where nobody knows what messages mean needs nobody to.
func TestWhatIsDrawnIsBlindWhereItHasToBe(t *testing.T) {
	draw := func(blind bool) (errs int) {
		for k := range uint64(20) {
			s, err := Generate(Eventful(true), Pace{Within: time.Minute, Gap: time.Second, Hold: time.Second, Blind: blind}, rand.New(rand.NewPCG(k, 0)))
			require.NoError(t, err)
			require.NotEmpty(t, s)
			if s.CheckBlind() != nil {
				errs++
			}
		}
		return errs
	}
	require.Zero(t, draw(true))
	require.NotZero(t, draw(false))
}

// What is drawn is accepted, each fault by itself, wherever that is. (An option of one fault has the name of another's.)
func TestWhatIsDrawnIsAccepted(t *testing.T) {
	for _, f := range All() {
		for _, blind := range []bool{false, true} {
			for k := range uint64(20) {
				s, err := Generate([]string{f.Name}, Pace{Within: time.Minute, Gap: time.Second, Hold: time.Second, Own: []string{"stuck"}, Blind: blind}, rand.New(rand.NewPCG(k, 0)))
				require.NoError(t, err)
				require.NotEmpty(t, s)
				require.NoError(t, s.Check([]string{"n1", "n2", "n3", "n4", "n5"}), "blind: %v, seed %d", blind, k)
			}
		}
	}
}
