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
