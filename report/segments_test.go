package report

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/history"
)

func follower(term uint64, of string) history.View {
	return history.View{Role: history.Follower, Term: term, Leader: of}
}

func leads(term uint64, node string) history.View {
	return history.View{Role: history.Leader, Term: term, Leader: node}
}

// draw writes segments as one would on a whiteboard: "0-300 follower of n1, term 4; 300-1000 ?".
func draw(segs []Segment) (s []string) {
	for _, g := range segs {
		what := "?"
		if g.Known {
			what = viewWords(g.View)
		}
		if g.State != history.Up {
			what = string(g.State) + " " + what
		}
		s = append(s, fmt.Sprintf("%v-%v %s", ms(g.From), ms(g.To), what))
	}
	return s
}

func TestANodeIsWhatItLastSaidForAFewPolls(t *testing.T) {
	k := newTracker(100 * msec)
	for _, at := range []time.Duration{100, 200, 300} {
		k.observe((at-5)*msec, at*msec, follower(4, "n1"))
	}
	k.observe(995*msec, 1000*msec, follower(4, "n1")) // nothing was heard for seven polls
	require.Equal(t, []string{
		"0-100 ?", "100-400 follower of n1, term 4", "400-1000 ?", "1000-1100 follower of n1, term 4", "1100-2000 ?",
	}, draw(k.finish(2000*msec)))
}

func TestWithoutPollsAViewHoldsUntilTheNext(t *testing.T) {
	k := newTracker(0)
	k.announce(100*msec, follower(4, "n1"))
	k.announce(9000*msec, leads(5, "n2"))
	require.Equal(t, []string{"0-100 ?", "100-9000 follower of n1, term 4", "9000-9500 leader, term 5"}, draw(k.finish(9500*msec)))
}

func TestWhatStandsHoldsForCertainUntilTheNextOrTheEnd(t *testing.T) {
	a, b := newListener(), newListener()
	a.announce(100*msec, leads(0, "n1"))
	b.announce(5000*msec, leads(0, "n2"))
	b.become(7000*msec, history.Down)
	segs := a.finish(9000 * msec)
	require.Equal(t, []string{"0-100 ?", "100-9000 leader"}, draw(segs))
	both, _ := overlaps(append(claims(0, segs), claims(1, b.finish(9000*msec))...))
	require.Equal(t, []Span{{5000 * msec, 7000 * msec}}, both)
}

func TestAHistoryOfWhatStandsIsDrawnSo(t *testing.T) {
	h, err := history.New([]history.Op{
		{F: history.Begin, Type: history.OK, Setup: &history.Setup{Nodes: []string{"n1", "n2"}, Standing: true,
			Bounds: history.Bounds{Poll: 50 * msec, Silence: 500 * msec, Elect: 2000 * msec}}},
		{F: history.Announce, Type: history.OK, Node: "n2", Time: 1000 * msec, View: leads(0, "n2")},
		{F: history.End, Type: history.OK, Time: 9000 * msec},
	})
	require.NoError(t, err)
	tl := Trace(&record.Run{History: h})
	require.Len(t, tl.Claims, 1)
	require.Equal(t, Span{1000 * msec, 9000 * msec}, tl.Claims[0].Span)
}

func TestAnAnswerOnItsWayDoesNotUndoAnAnnouncement(t *testing.T) {
	k := newTracker(100 * msec)
	k.observe(90*msec, 100*msec, follower(4, "n1"))
	k.announce(195*msec, leads(5, "n2"))
	k.observe(190*msec, 210*msec, follower(4, "n1")) // asked before, and answered before
	k.observe(290*msec, 310*msec, leads(5, "n2"))
	require.Equal(t, []string{"0-100 ?", "100-195 follower of n1, term 4", "195-400 leader, term 5"}, draw(k.finish(400*msec)))
}

func TestAPausedNodeIsWhatItWas(t *testing.T) {
	for _, state := range []history.ProcState{history.Paused, history.Frozen} {
		k := newTracker(100 * msec)
		k.announce(100*msec, leads(5, "n2"))
		k.become(300*msec, state)
		k.become(2000*msec, history.Up)
		k.announce(2050*msec, follower(6, "n1"))
		segs := k.finish(2100 * msec)
		require.Equal(t, []string{
			"0-100 ?", "100-300 leader, term 5", "300-2000 " + string(state) + " leader, term 5", "2000-2050 leader, term 5", "2050-2100 follower of n1, term 6",
		}, draw(segs))
		cs := claims(0, segs)
		require.Len(t, cs, 1, "one leadership, the pause included")
		require.Equal(t, Span{100 * msec, 2050 * msec}, cs[0].Span)
		require.Equal(t, 2050*msec, cs[0].Seen)

		p := paint(&Timeline{End: 2100 * msec, Names: []string{"n2"}, Nodes: []Lane{{Name: "n2", Segments: segs}}}, 1280)
		require.True(t, p.used["paused"])
		require.False(t, p.used["down"])
		require.Contains(t, p.data().Words, "n2: "+string(state)+"; it was leader, term 5")
	}
}

func TestADeadNodeIsNothingUntilItIsRevived(t *testing.T) {
	for _, state := range []history.ProcState{history.Down, history.Crashed, Exited} {
		k := newTracker(100 * msec)
		k.announce(100*msec, leads(5, "n2"))
		k.become(300*msec, state)
		k.observe(295*msec, 302*msec, leads(5, "n2")) // answered before it died
		k.reviving = true                             // the nemesis begins to heal, the node answers first
		k.observe(595*msec, 600*msec, follower(5, ""))
		k.become(610*msec, history.Up)
		require.Equal(t, []string{
			"0-100 ?", "100-300 leader, term 5", "300-600 " + string(state) + " ?", "600-700 follower of nobody, term 5",
		}, draw(k.finish(700*msec)))
	}
}

func TestOverlapsAreOnlyWhatIsCertain(t *testing.T) {
	at := func(node int, from, seen, to int, term uint64) Claim {
		return Claim{
			Span: Span{time.Duration(from) * msec, time.Duration(to) * msec}, Seen: time.Duration(seen) * msec, Node: node,
			View: leads(term, ""),
		}
	}
	all, sharp := overlaps([]Claim{at(0, 0, 100, 200, 1), at(1, 150, 400, 500, 2)})
	require.Empty(t, all, "the first was last seen to lead before the second began")
	require.Empty(t, sharp)

	all, sharp = overlaps([]Claim{at(0, 0, 180, 200, 1), at(1, 150, 400, 500, 2), at(2, 390, 600, 600, 2)})
	require.Equal(t, []Span{{150 * msec, 180 * msec}, {390 * msec, 400 * msec}}, all)
	require.Equal(t, []bool{false, true}, sharp, "the second is in one term")
}

func TestCoarseSegmentsCoverAllAndLoseNoLeadership(t *testing.T) {
	var segs []Segment
	for i := range 10_000 {
		s := Segment{Span: Span{time.Duration(i) * msec, time.Duration(i+1) * msec}, State: history.Up, Known: true}
		if s.View = follower(uint64(i), "n1"); i%500 == 77 {
			s.View = leads(uint64(i), "n2")
		}
		segs = append(segs, s)
	}
	coarse := coarsen(segs, 400)
	require.LessOrEqual(t, len(coarse), 400)
	leaders, parts := 0, 0
	for i, s := range coarse {
		if i > 0 {
			require.Equal(t, coarse[i-1].To, s.From, "no holes")
		}
		if s.View.Role == history.Leader {
			leaders++
		}
		parts += max(1, s.Parts)
	}
	require.Equal(t, segs[0].From, coarse[0].From)
	require.Equal(t, segs[len(segs)-1].To, coarse[len(coarse)-1].To)
	require.Equal(t, 20, leaders)
	require.Equal(t, len(segs), parts, "each is accounted for")
	require.Equal(t, segs[:300], coarsen(segs[:300], 400), "few stay as they are")
}

func TestRowsHideNothingAndOwnersKeepTheirs(t *testing.T) {
	at := func(from, to int) Span { return Span{time.Duration(from) * msec, time.Duration(to) * msec} }
	spans := []Span{at(0, 10), at(8, 20), at(19, 30), at(31, 40), at(41, 50)}
	require.Equal(t, []int{0, 1, 0, 0, 0}, pack(spans, nil, 0, 5))
	require.Equal(t, []int{0, 1, 0, 1, 0}, pack(spans, []int{1, 2, 1, 2, 1}, 0, 5))
	require.Equal(t, []int{0, 1, 2, 0, 1}, pack(spans, nil, 10*msec, 5))
	require.Equal(t, []int{0, 1, 1}, pack([]Span{at(0, 10), at(1, 10), at(2, 10)}, nil, 0, 2), "the last row is shared")
}
