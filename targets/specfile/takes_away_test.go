package specfile

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
	"recount/internal/hint"
)

// A lease is promised while clocks are nearly right: nobody is to blame where the nemesis has them run apart.
func TestFaultsTakePromisesAwayThatRestOnTheirAbsence(t *testing.T) {
	clock := func(drift float64, offset time.Duration) history.State {
		return history.Clock{Node: "n2", Drift: drift, Offset: offset}
	}
	link := func(s history.LinkState) history.State { return history.Link{From: "n1", To: "n2", LinkState: s} }
	disk := func(s history.DiskState) history.State { return history.Disk{Node: "n1", DiskState: s} }
	proc := func(s history.ProcState) history.State { return history.Proc{Node: "n1", State: s} }
	part := func(s history.ProcState) history.State { return history.Part{Node: "n1", Process: "agent", State: s} }
	within := func(machine bool) history.State {
		return history.Trap{Node: "n1", TrapState: history.TrapState{Do: history.Finish, On: history.Sends, Crash: machine}}
	}
	for _, c := range []struct {
		unless string
		did    history.State
		away   bool
	}{
		{"{drift: 10%}", clock(-0.8, 0), true},
		{"{drift: 10%}", clock(0.101, 0), true},
		{"{drift: 10%}", clock(-0.09, 0), false},
		{"{drift: 10%}", clock(0, time.Hour), false},
		{"{jump: 1s}", clock(0, -2*time.Second), true},
		{"{jump: 1s}", clock(0.5, time.Second), false},
		{"{links: [slow]}", link(history.LinkState{Delay: time.Millisecond}), true},
		{"{links: slow}", link(history.LinkState{Cut: true}), false},
		{"{links: [slow, broken]}", link(history.LinkState{Cut: true}), true},
		{"{links: [one-way]}", link(history.LinkState{Cut: true}), true},
		{"{nodes: [paused]}", proc(history.Paused), true},
		{"{nodes: [paused]}", proc(history.Frozen), true},
		{"{nodes: [paused]}", proc(history.Down), false},
		{"{nodes: [paused]}", part(history.Paused), true},
		{"{nodes: [paused]}", part(history.Up), false},
		{"{nodes: [killed]}", proc(history.Down), true},
		{"{nodes: [killed]}", part(history.Down), true},
		{"{nodes: [killed]}", part(history.Paused), false},
		{"{nodes: [killed]}", proc(history.Up), false},
		{"{nodes: [killed]}", proc(history.Crashed), false},
		{"{nodes: [killed]}", proc(history.Stopped), false},
		{"{nodes: [killed]}", history.Memory{Node: "n1", Bytes: 1 << 20}, true},
		{"{nodes: [killed]}", within(false), true},
		{"{nodes: [killed]}", within(true), false},
		{"{nodes: [crashed]}", within(true), true},
		{"{nodes: [crashed]}", within(false), false},
		{"{nodes: [crashed]}", proc(history.Crashed), true},
		{"{nodes: [crashed]}", proc(history.Down), false},
		{"{nodes: [stopped]}", proc(history.Stopped), true},
		{"{nodes: [stopped]}", proc(history.Down), false},
		{"{nodes: [slow]}", history.CPU{Node: "n1", Share: 0.1}, true},
		{"{disks: [forget]}", disk(history.DiskState{Wiped: true}), true},
		{"{disks: [forget]}", disk(history.DiskState{Slow: time.Second}), false},
		{"{disks: [slow]}", disk(history.DiskState{Slow: time.Second}), true},
		{"{disks: [refuse]}", disk(history.DiskState{Full: true}), true},
		{"{disks: [refuse], drift: 1%}", clock(0.02, 0), true},
	} {
		s := parse(t, strings.Replace(sound, "while: disks hold", "while: all is well, unless: "+c.unless, 1))
		target := s.Target("mine.yaml")
		require.Equal(t, c.away, target.Excused("monotonic-term", history.ChangesOf(c.did)), "%s after %s", c.unless, c.did.Words())
		require.False(t, target.Excused("elects", history.ChangesOf(c.did)), "another promise stands")
		require.False(t, target.Suspended("monotonic-term", history.ChangesOf(c.did)), "it is for good")
		s = parse(t, strings.Replace(sound, "while: disks hold", "while: all is well, suspended: "+c.unless, 1))
		require.Equal(t, c.away, s.Target("mine.yaml").Suspended("monotonic-term", history.ChangesOf(c.did)), "%s after %s", c.unless, c.did.Words())
		require.False(t, s.Target("mine.yaml").Excused("monotonic-term", history.ChangesOf(c.did)), "it is for a time")
	}
}

func TestMistakesInWhatTakesPromisesAway(t *testing.T) {
	for _, c := range []struct{ instead, want, way string }{
		{"while: x, unless: {}", "unless: nothing is named", "drift: 10%"},
		{"while: x, unless: {drft: 1%}", `unknown field "drft"`, `did you mean "drift"?`},
		{"while: x, unless: {drift: 0.1}", `drift: "0.1" is no share`, "10%"},
		{"while: x, unless: {drift: -1%}", `drift: "-1%" is no share`, "10%"},
		{"while: x, unless: {jump: 1}", `jump: "1" is not a positive duration`, "unit"},
		{"while: x, unless: {links: [slwo]}", `unknown word for links "slwo"`, `did you mean "slow"?`},
		{"while: x, unless: {nodes: [dead]}", `unknown word for nodes "dead"`, "known: crashed, killed, paused, slow, stopped"},
		{"unless: {drift: 1%}", "unless stands without while", "while:"},
		{"suspended: {drift: 1%}", "suspended stands without while", "while:"},
		{"while: x, suspended: {}", "suspended: nothing is named", "suspended: {drift: 10%}"},
	} {
		_, err := Parse("mine.yaml", []byte(strings.Replace(sound, "while: disks hold", c.instead, 1)))
		require.ErrorContains(t, err, c.want)
		require.Regexp(t, `^spec: mine\.yaml:11:[0-9]+: [^\n]+$`, err.Error())
		require.Contains(t, hint.Of(err), c.way)
	}
}
