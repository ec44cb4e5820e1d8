package harness

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

func TestLeadershipsAreToldOnceEach(t *testing.T) {
	lead := func(term uint64) history.View { return history.View{Role: history.Leader, Term: term, Leader: "n1"} }
	follow := history.View{Role: history.Follower, Term: 2, Leader: "n2"}
	l := leads{}
	for i, c := range []struct {
		f    history.F
		t    history.Type
		view history.View
		want string
	}{
		{history.Observe, history.Invoke, history.View{}, ""},
		{history.Observe, history.Fail, history.View{}, ""},
		{history.Observe, history.OK, lead(1), "   0.03s n1 leads in term 1"},
		{history.Announce, history.OK, lead(1), ""},
		{history.Announce, history.OK, lead(2), "   0.05s n1 leads in term 2"},
		{history.Observe, history.OK, history.View{Role: history.Follower, Term: 1}, ""}, // asked before
		{history.Observe, history.OK, lead(2), ""},
		{history.Observe, history.OK, follow, ""},
		{history.Observe, history.OK, lead(0), "   0.09s n1 leads"},
		{history.Observe, history.OK, lead(0), ""},
	} {
		op := history.Op{Time: time.Duration(i+1) * 10 * time.Millisecond, Node: "n1", F: c.f, Type: c.t, View: c.view}
		require.Equal(t, c.want, l.see(&op), i)
	}
}

func TestAFaultThatHitNobodyIsToldWithoutNodes(t *testing.T) {
	op := history.Op{F: history.Inject, Type: history.Fail, Fault: &history.Fault{Name: "kill"}, Error: "no election was seen from 16.672s on"}
	require.Equal(t, "   0.00s inject kill: DID NOT TAKE EFFECT: no election was seen from 16.672s on", describe(&op))
}

func TestWhatCameTrueInPartIsTold(t *testing.T) {
	f := &history.Fault{Name: "pause", Nodes: []string{"n1", "n2"}, Found: true}
	f.Procs = []history.Proc{{Node: "n1", State: history.Paused}}
	require.Equal(t, "   0.00s change pause n1 n2: came true in part: n1 is paused", describe(&history.Op{F: history.Change, Type: history.OK, Fault: f}))
}

// What is confirmed late stands behind what came of it: then its beginning is told before that.
func TestACauseIsToldBeforeWhatComesOfIt(t *testing.T) {
	fault := &history.Fault{Name: "kill", Nodes: []string{"n1"}}
	lead := history.View{Role: history.Leader, Term: 2, Leader: "n2"}
	n := news{leads: leads{}}
	var told []string
	for i, op := range []history.Op{
		{Process: history.Nemesis, Type: history.Invoke, F: history.Inject, Fault: fault},
		{F: history.Announce, Type: history.OK, Node: "n2", View: lead},
		{F: history.Announce, Type: history.OK, Node: "n3", View: lead},
		{Process: history.Nemesis, Type: history.OK, F: history.Inject, Fault: fault},
		{Process: history.Nemesis, Type: history.Invoke, F: history.Heal, Fault: fault},
		{Process: history.Nemesis, Type: history.OK, F: history.Heal, Fault: fault},
		{F: history.Announce, Type: history.OK, Node: "n1", View: lead},
	} {
		op.Time = time.Duration(i+1) * 100 * time.Millisecond
		told = append(told, n.lines(&op)...)
	}
	require.Equal(t, []string{
		"   0.10s inject kill n1 begins",
		"   0.20s n2 leads in term 2",
		"   0.30s n3 leads in term 2",
		"   0.40s inject kill n1: took effect",
		"   0.60s heal kill n1: healed",
		"   0.70s n1 leads in term 2",
	}, told)
}
