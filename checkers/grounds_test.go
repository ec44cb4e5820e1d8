package checkers

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/history"
)

func TestUnjudgeable(t *testing.T) {
	const answers = "1s n1 leader 1\n1s n2 follower 1\n2s end"
	for bounds, want := range map[string]bool{
		"bounds silence=1s elect=4s poll=1s": false,
		"bounds silence=1s elect=4s":         false,
		"bounds silence=1s":                  true,
		"bounds elect=1s":                    true,
		"":                                   true,
	} {
		h, err := parseHistory("nodes n1 n2\n" + bounds + "\n" + answers)
		require.NoError(t, err)
		require.Equal(t, want, gather(h).unjudgeable() != "", bounds)
	}
}

// TestWhoWasMissed names a fault that was aimed by words, and hit nobody. No other that had no effect is one.
func TestWhoWasMissed(t *testing.T) {
	const missed = `1 fault injected, none was seen to take effect: kill of "leader" hit nobody at 1.000 s (no node to be "leader"): aim it at others, or later`
	const other = `1 fault injected, none was seen to take effect: kill, no node to be "leader"`
	const untold = "1 fault injected, none was seen to take effect: find out with recount doctor why not"
	for name, one := range map[string]struct {
		change func(end *history.Op)
		want   string
	}{
		"nobody was meant":    {func(*history.Op) {}, missed},
		"what was seen":       {func(end *history.Op) { end.Error += "; last seen: n1→nobody" }, missed},
		"nobody saw it":       {func(end *history.Op) { end.Type = history.Info }, other},
		"somebody was meant":  {func(end *history.Op) { end.Fault.Nodes = []string{"n1"} }, other},
		"nobody said why":     {func(end *history.Op) { end.Type, end.Error = history.Info, "" }, untold},
		"aimed without words": {func(end *history.Op) { end.Fault.Asked = nil }, other},
	} {
		h, err := parseHistory("nodes n1 n2\n1s nemesis inject kill leader: kill n1; nobody\n2s end")
		require.NoError(t, err)
		one.change(&h.Ops[2])
		require.Equal(t, one.want, gather(h).noEffect(), name)
	}
	h, err := parseHistory("nodes n1 n2\n1s nemesis inject kill leader: kill n1; nobody\n2s nemesis inject pause leader: pause n1; nobody\n3s end")
	require.NoError(t, err)
	require.Contains(t, gather(h).noEffect(), "kill of", "the first is told")
	h.Ops[2].Type, h.Ops[4].Type, h.Ops[4].Error = history.Info, history.Info, "it did not stop"
	require.Contains(t, gather(h).noEffect(), `: kill, no node to be "leader"`, "the first is told")
	h.Ops[2].Type = history.OK
	require.Contains(t, gather(h).noEffect(), ": pause, it did not stop", "what is said of one that took effect is no reason")
	h.Ops[4].Error = "n1 did not stop; n2 neither"
	require.Contains(t, gather(h).noEffect(), ": pause, n1 did not stop, n2 neither", "of no more clauses than one")
}
