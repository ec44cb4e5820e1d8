package report

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

var five = []string{"n1", "n2", "n3", "n4", "n5"}

// cutting returns the changes that bring links from the ones of some nodes to those of others down, or up again.
func cutting(at time.Duration, down bool, from, to []int) (cs []linkChange) {
	for _, a := range from {
		for _, b := range to {
			cs = append(cs, linkChange{at: at * msec, pair: pair{a - 1, b - 1}, state: history.LinkState{Cut: down}})
		}
	}
	return cs
}

func join(parts ...[]linkChange) (all []linkChange) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// lines writes lanes down: "n1 – n3: 100-200 both".
func lines(lanes []linkLane) (out []string) {
	for _, l := range lanes {
		s := l.Label + ":"
		for _, p := range l.Spans {
			way := map[[2]bool]string{{true, true}: "both", {true, false}: "there", {false, true}: "back"}[[2]bool{p.There.Cut, p.Back.Cut}]
			if p.Label != "" {
				way = p.Label
			}
			s += fmt.Sprintf(" %v-%v %s", ms(p.From), ms(p.To), way)
		}
		out = append(out, s)
	}
	return out
}

func TestLinksThatShareTheirFateShareALane(t *testing.T) {
	one, three, four := []int{1}, []int{3}, []int{1, 2, 3, 5}
	for name, c := range map[string]struct {
		changes []linkChange
		want    []string
	}{
		"one link, flapping": {
			join(cutting(100, true, one, three), cutting(100, true, three, one), cutting(200, false, one, three),
				cutting(200, false, three, one), cutting(300, true, one, three), cutting(300, true, three, one)),
			[]string{"n1 – n3: 100-200 both 300-1000 both"},
		},
		"an isolated node": {
			join(cutting(100, true, []int{4}, four), cutting(100, true, four, []int{4}), cutting(600, false, []int{4}, four), cutting(600, false, four, []int{4})),
			[]string{"n1 n2 n3 n5 | n4: 100-600 both"},
		},
		"halves, mixed": {
			join(cutting(100, true, []int{1, 4}, []int{2, 3, 5}), cutting(100, true, []int{2, 3, 5}, []int{1, 4})),
			[]string{"n1 n4 | n2 n3 n5: 100-1000 both"},
		},
		"one way, named by the way that is down": {
			cutting(100, true, three, one),
			[]string{"n3 → n1: 100-1000 there"},
		},
		"everybody to one": {
			cutting(100, true, []int{2, 3}, one),
			[]string{"n2 n3 → n1: 100-1000 there"},
		},
		"one way, then the other": {
			join(cutting(100, true, one, three), cutting(200, false, one, three), cutting(200, true, three, one)),
			[]string{"n1 → n3: 100-200 there 200-1000 back"},
		},
		"two fates": {
			join(cutting(100, true, one, three), cutting(100, true, three, one), cutting(200, true, []int{2}, []int{4}), cutting(200, true, []int{4}, []int{2})),
			[]string{"n1 – n3: 100-1000 both", "n2 – n4: 200-1000 both"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, lines(network(c.changes, five, 1000*msec)))
		})
	}
}

func TestManyFatesShareOneLaneThatNamesTheParts(t *testing.T) {
	var changes []linkChange
	for i := range 10 { // a different half each time
		small := []int{i%5 + 1, (i+1+i/5)%5 + 1}
		var large []int
		for n := 1; n <= 5; n++ {
			if n != small[0] && n != small[1] {
				large = append(large, n)
			}
		}
		at := time.Duration(100 + 50*i)
		changes = join(changes, cutting(at, true, small, large), cutting(at, true, large, small),
			cutting(at+30, false, small, large), cutting(at+30, false, large, small))
	}
	got := network(changes, five, 1000*msec)
	require.Len(t, got, 1)
	require.Equal(t, "network", got[0].Label)
	require.Len(t, got[0].Spans, 10)
	require.Equal(t, "n1 n2 | n3 n4 n5", got[0].Spans[0].Label)
	require.Equal(t, Span{100 * msec, 130 * msec}, got[0].Spans[0].Span)
	require.Equal(t, "n1 n3 | n2 n4 n5", got[0].Spans[5].Label)
}

func TestImpairedAndUnseenLinksAreNotDown(t *testing.T) {
	slow := history.LinkState{Delay: 50 * msec, Loss: 0.1}
	got := network([]linkChange{
		{at: 100 * msec, pair: pair{0, 1}, state: slow},
		{at: 200 * msec, pair: pair{0, 1}, state: history.LinkState{Cut: true}, unsure: true},
	}, five, 1000*msec)
	require.Len(t, got, 1)
	require.Len(t, got[0].Spans, 2)
	require.Equal(t, "n1 → n2: loses 10 %, delayed by 50 ms", linkWords(got[0].Label, got[0].Spans[0]))
	require.Equal(t, "n1 → n2: down in the direction named (not seen to have taken effect)", linkWords(got[0].Label, got[0].Spans[1]))
}

func TestNodesWithoutAMajorityAreToldApart(t *testing.T) {
	small, large := []int{1, 2}, []int{3, 4, 5}
	off := cutOff(join(cutting(100, true, small, large), cutting(400, false, small, large)), 5, 1000*msec)
	for n := range five {
		want := []Span(nil)
		if n < 2 {
			want = []Span{{100 * msec, 400 * msec}} // one direction down is enough: an answer is part of reaching somebody
		}
		require.Equal(t, want, off[n], five[n])
	}
	for n, spans := range cutOff(cutting(100, true, []int{1}, []int{2}), 5, 1000*msec) {
		require.Empty(t, spans, five[n])
	}
}

func TestLongRowsOfNodesAreAbridged(t *testing.T) {
	nodes := make([]string, 12)
	for i := range nodes {
		nodes[i] = fmt.Sprintf("n%d", i+1)
	}
	require.Equal(t, "n1 n2 n3", names([]int{0, 1, 2}, nodes))
	require.Equal(t, "n1…n4 n6 n9…n12", names([]int{0, 1, 2, 3, 5, 8, 9, 10, 11}, nodes))
}
