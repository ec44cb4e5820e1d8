package checkers

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWhatBrokeOutsideOfLapsesIsTold has properties break again and again, or for long, and not be promised for a time.
func TestWhatBrokeOutsideOfLapsesIsTold(t *testing.T) {
	for property, ops := range map[string]string{
		"elects": `
			0s..60s/100ms n1 n2 n3 follower 1`,
		"sticky-leader": `
			0s..60s/100ms n3 follower 1
			0s..12.3s/100ms n1 leader 1
			12.3s..12.6s/100ms n1 follower 8
			12.6s..42.3s/100ms n1 leader 9
			42.3s..42.6s/100ms n1 follower 10
			42.6s..60s/100ms n1 leader 11
			0s..60s/100ms n2 follower 1 of n1`,
		"learns-leader": `
			0s..60s/100ms n1 leader 1
			0s..60s/100ms n2 follower 1 of n1
			0s..60s/100ms n3 candidate 1`,
		"exclusive-leadership": `
			0s..60s/100ms n1 leader 1
			0s..5s/100ms n2 follower 1
			5s..40s/100ms n2 leader 2
			40s..60s/100ms n2 follower 2
			0s..60s/100ms n3 follower 1`,
		"no-ping-pong": `
			0s..6s/100ms n1 leader 1
			6s..7s/100ms n1 follower 2
			7s..8s/100ms n1 leader 3
			8s..9s/100ms n1 follower 4
			9s..36s/100ms n1 leader 5
			36s..37s/100ms n1 follower 6
			37s..38s/100ms n1 leader 7
			38s..39s/100ms n1 follower 8
			39s..60s/100ms n1 leader 9
			0s..6s/100ms n2 follower 1
			6s..7s/100ms n2 leader 2
			7s..8s/100ms n2 follower 3
			8s..9s/100ms n2 leader 4
			9s..36s/100ms n2 follower 5
			36s..37s/100ms n2 leader 6
			37s..38s/100ms n2 follower 7
			38s..39s/100ms n2 leader 8
			39s..60s/100ms n2 follower 9
			0s..60s/100ms n3 follower 1`,
		"bounded-terms": `
			0s..60s/100ms n1 n2 follower 4
			0s..7s/100ms n3 follower 4
			7s..8s/100ms n3 candidate 9
			8s..37s/100ms n3 candidate 10
			37s..38s/100ms n3 candidate 19
			38s..60s/100ms n3 candidate 20
			5s nemesis inject cut-one-way n3: cut n1>n3, cut n2>n3
			12s nemesis heal cut-one-way n3: join n1>n3, join n2>n3
			35s nemesis inject cut-one-way n3: cut n1>n3, cut n2>n3
			42s nemesis heal cut-one-way n3: join n1>n3, join n2>n3`,
		"quorum": `
			0s..60s/100ms n1 leader 1
			0s..60s/100ms n2 follower 1 of n1
			0s..6s/100ms n3 follower 1 of n1
			5s nemesis inject isolate n3: cut n1-n3, cut n2-n3
			6s n3 announces candidate 2
			6.1s..8s/100ms n3 leader 2
			8.1s..36s/100ms n3 follower 2
			36.05s n3 announces candidate 3
			36.1s..60s/100ms n3 leader 3`,
		"agreement": `
			0s..60s/100ms n1 leader 1
			0s..60s/100ms n2 follower 1 of n1
			0s..5s/100ms n3 follower 1 of n1
			5s..6s/100ms n3 follower 1 of n2
			6s..40s/100ms n3 follower 1 of n1
			40s..60s/100ms n3 follower 1 of n1
			45s n2 follower 1 of n3`,
	} {
		t.Run(property, func(t *testing.T) {
			h, err := parseHistory("nodes n1 n2 n3\nbounds silence=1s elect=4s poll=100ms\n" + ops + "\n60s end\n")
			require.NoError(t, err)
			told := func(lapses ...Lapse) Result {
				j := BeginSome([]string{property})
				for i := range h.Ops {
					j.Add(&h.Ops[i])
				}
				j.Suspend(func(of string) []Lapse {
					require.Equal(t, property, of)
					return lapses
				})
				r := j.End(t.Context())[0]
				require.Equal(t, Invalid, r.Verdict, r.Why)
				return r
			}
			first := told()
			require.Less(t, first.From, 15*time.Second, first.Why)
			require.Equal(t, first, told(Lapse{61 * time.Second, never}), "nothing broke then")
			early := Lapse{0, 15 * time.Second}
			later := told(early)
			require.Greater(t, later.From, early.To, later.Why)
			require.Equal(t, first.From, told(Lapse{20 * time.Second, 30 * time.Second}).From, "it broke before, and after")
			require.Equal(t, first, told(Lapse{0, never}), "nothing was promised")
			require.Equal(t, first, told(early, Lapse{15*time.Second + 1, 56*time.Second - 1}), "what is left is no longer than it may be")
		})
	}
}

// TestDisagreementOutsideOfLapsesIsTold has nodes name different leaders of one term while that is not promised, and of two terms once
// the cluster was whole again.
func TestDisagreementOutsideOfLapsesIsTold(t *testing.T) {
	h, err := parseHistory(`nodes n1 n2 n3
bounds silence=1s elect=4s poll=100ms
0s..60s/100ms n1 leader 1
0s..60s/100ms n2 follower 1 of n1
0s..30s/100ms n3 follower 1 of n1
5.05s n3 follower 1 of n2
29s nemesis inject cut-link n2 n3: cut n2-n3
30s nemesis heal cut-link n2 n3: join n2-n3
30s..60s/100ms n3 follower 2 of n2
60s end`)
	require.NoError(t, err)
	told := func(lapses ...Lapse) string {
		j := BeginSome([]string{"agreement"})
		for i := range h.Ops {
			j.Add(&h.Ops[i])
		}
		j.Suspend(func(string) []Lapse { return lapses })
		return j.End(t.Context())[0].Why
	}
	const inTerm, whole = "in term 1 n1 named n1 leader and n3 named n2", "n1 named n1 leader and n3 named n2 for 26 s on end"
	require.Contains(t, told(), inTerm)
	require.Contains(t, told(Lapse{0, 29 * time.Second}), whole)
	require.Contains(t, told(Lapse{30 * time.Second, never}), inTerm)
	require.Contains(t, told(Lapse{0, never}), inTerm)
}

// TestWhoKnowsNoLeaderOutsideOfLapsesIsTold has three nodes know no leader for long, and not be promised to for a time.
func TestWhoKnowsNoLeaderOutsideOfLapsesIsTold(t *testing.T) {
	h, err := parseHistory(`nodes n1 n2 n3 n4 n5
bounds silence=1s elect=4s poll=100ms
0s..60s/100ms n1 leader 1
0s..60s/100ms n2 follower 1 of n1
0s..6s/100ms n3 follower 1 of n1
6s..60s/100ms n3 follower 1
0s..2s/100ms n4 n5 follower 1 of n1
2s..60s/100ms n4 n5 follower 1
60s end`)
	require.NoError(t, err)
	for _, c := range []struct {
		lapse Lapse
		want  string
	}{
		{Lapse{61 * time.Second, never}, "n4 knew no leader from 2.000 s to 59.900 s"},
		{Lapse{0, 4 * time.Second}, "n4 knew no leader from 4.000 s to 59.900 s"},
		{Lapse{0, 10 * time.Second}, "n3 knew no leader from 10.000 s to 59.900 s"}, // the first of them
		{Lapse{20 * time.Second, 30 * time.Second}, "n4 knew no leader from 2.000 s to 20.000 s"},
		{Lapse{0, 55_900*time.Millisecond - 2}, "n3 knew no leader from 55.900 s to 59.900 s"},
		{Lapse{0, 55_900*time.Millisecond - 1}, "n4 knew no leader from 2.000 s to 59.900 s"}, // for no longer than it may
	} {
		j := BeginSome([]string{"learns-leader"})
		for i := range h.Ops {
			j.Add(&h.Ops[i])
		}
		j.Suspend(func(string) []Lapse { return []Lapse{c.lapse} })
		require.Contains(t, j.End(t.Context())[0].Why, c.want)
	}
}

// TestTermsGainedOutsideOfLapsesAreTold has a node that hears nobody raise its term on and on, and not be promised to stop for a time.
func TestTermsGainedOutsideOfLapsesAreTold(t *testing.T) {
	text := "nodes n1 n2 n3\nbounds silence=1s elect=4s poll=100ms\n" +
		"0s..60s/100ms n1 leader 1\n0s..60s/100ms n2 follower 1 of n1\n0s..5s/100ms n3 follower 1 of n1\n" +
		"5s nemesis inject isolate n3: cut n1-n3, cut n2-n3\n60s end\n"
	for k := range 55 {
		text += fmt.Sprintf("%ds..%ds/100ms n3 candidate %d\n", 5+k, 6+k, 2+k)
	}
	h, err := parseHistory(text)
	require.NoError(t, err)
	for _, c := range []struct {
		lapse Lapse
		want  string
	}{
		{Lapse{61 * time.Second, never}, "n3 raised its term from 2 to 6 in 4 s"},
		{Lapse{0, 20*time.Second - 1}, "n3 raised its term from 17 to 21 in 4 s"}, // though it had by 9 s
		{Lapse{7 * time.Second, 20*time.Second - 1}, "n3 raised its term from 17 to 21 in 4 s"},
		{Lapse{10 * time.Second, 20 * time.Second}, "n3 raised its term from 2 to 6 in 4 s"},
		{Lapse{0, 56*time.Second - 1}, "n3 raised its term from 2 to 6 in 4 s"}, // since then by no more than it may
	} {
		j := BeginSome([]string{"bounded-terms"})
		for i := range h.Ops {
			j.Add(&h.Ops[i])
		}
		j.Suspend(func(string) []Lapse { return []Lapse{c.lapse} })
		require.Contains(t, j.End(t.Context())[0].Why, c.want)
	}
}

// TestLapsesIncludeTheirEnds cuts a time where lapses end.
func TestLapsesIncludeTheirEnds(t *testing.T) {
	f := &facts{lapses: func(string) []Lapse { return []Lapse{{2, 4}, {7, never}} }}
	require.Equal(t, []span{{0, 1}, {5, 6}}, f.promised("elects", span{0, 9}))
	for _, s := range f.promised("elects", span{0, 9}) {
		for _, l := range f.lapsed("elects") {
			require.False(t, l.Meets(s.from, s.to))
		}
	}
	require.Equal(t, []span{{0, 9}}, (&facts{}).promised("elects", span{0, 9}))
	l := Lapse{2, 4}
	require.True(t, l.Meets(0, 2))
	require.True(t, l.Meets(4, 9))
}

// TestSplitsOfATermOutsideOfLapsesAreTold has nodes name different leaders of one term again and again, the first times while that is
// not promised. Who was asked last counts, not who answered last.
func TestSplitsOfATermOutsideOfLapsesAreTold(t *testing.T) {
	h, err := parseHistory(`nodes n1 n2 n3 n4
bounds silence=1s elect=4s poll=100ms
1s n1 leader 1
3s n2 leader 1
5s n1 leader 1
5s-5.5s n4 follower 1 of n1
1.5s-6s n4 follower 1 of n1
7s n3 follower 1 of n2
8s n3 follower 1 of n4
60s end`)
	require.NoError(t, err)
	for until, want := range map[time.Duration]string{
		0: "n1 named n1 leader and n2 named n2", 2: "n2 named n2 leader and n1 named n1", 4: "n1 named n1 leader and n3 named n2",
		6: "n3 named n2 leader, and then n4", 7: "n1 named n1 leader and n2 named n2", // nothing is outside
	} {
		j := BeginSome([]string{"agreement"})
		for i := range h.Ops {
			j.Add(&h.Ops[i])
		}
		j.Suspend(func(string) []Lapse { return []Lapse{{0, until * time.Second}} })
		require.Contains(t, j.End(t.Context())[0].Why, "in term 1 "+want, until)
	}
}

// TestDoubtsOutsideOfLapsesAreTold has two leaders replaced of which nobody can tell whether they had to go.
func TestDoubtsOutsideOfLapsesAreTold(t *testing.T) {
	h, err := parseHistory(`nodes n1 n2 n3
bounds silence=300ms elect=4s poll=50ms
0s..10s/50ms+1ms n1 leader 1
0s..10s/50ms+1ms n2 n3 follower 1 of n1
11s stall 1s
11.1s..25s/50ms+1ms n2 leader 2
11.1s..25s/50ms+1ms n1 n3 follower 2 of n2
26s stall 1s
26.1s..40s/50ms+1ms n3 leader 3
26.1s..40s/50ms+1ms n1 n2 follower 3 of n3
40s end`)
	require.NoError(t, err)
	for _, c := range []struct {
		lapses []Lapse
		of     string
		from   time.Duration
	}{
		{nil, "n1 lost the post", 9950 * time.Millisecond},
		{[]Lapse{{0, 15 * time.Second}}, "n2 lost the post", 24950 * time.Millisecond},
		{[]Lapse{{20 * time.Second, never}}, "n1 lost the post", 9950 * time.Millisecond},
		{[]Lapse{{0, never}}, "n1 lost the post", 9950 * time.Millisecond},
	} {
		j := BeginSome([]string{"sticky-leader"})
		for i := range h.Ops {
			j.Add(&h.Ops[i])
		}
		j.Suspend(func(string) []Lapse { return c.lapses })
		r := j.End(t.Context())[0]
		require.Equal(t, Unknown, r.Verdict)
		require.Contains(t, r.Why, c.of)
		require.Equal(t, c.from, r.Doubt.From)
	}
}
