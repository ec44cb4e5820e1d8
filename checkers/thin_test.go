package checkers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// TestCalmIsLeftOut judges histories with long stretches of calm with all their answers, and without most of them: nothing but
// the memory that it takes may differ.
func TestCalmIsLeftOut(t *testing.T) {
	much, more := muchCalm, moreCalm
	defer func() { muchCalm, moreCalm = much, more }()
	judge := func(h *history.History, few bool) (results []Result, kept int) {
		if muchCalm, moreCalm = 1<<30, 1<<30; few {
			muchCalm, moreCalm = 4, 16
		}
		j := Begin()
		for i := range h.Ops {
			j.Add(&h.Ops[i])
		}
		results = j.End(context.Background())
		for i := range results {
			results[i].Drawing = nil
		}
		return results, len(j.answers)
	}
	all := append(goldens(t), minutes(t, 2))
	for seed := range uint64(60) {
		h, err := parseHistory(calmly(seed))
		require.NoError(t, err)
		all = append(all, h)
	}
	before, after := 0, 0
	for _, h := range all {
		whole, n := judge(h, false)
		thinned, m := judge(h, true)
		require.Equal(t, whole, thinned)
		before, after = before+n, after+m
	}
	require.Less(t, after, before*2/3)
}

// calmly is a history of nodes that say the same again and again, of what befalls them now and then, and of what they make of
// it, wrong or right.
func calmly(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 9))
	var b strings.Builder
	b.WriteString("nodes n1 n2 n3\nbounds silence=300ms elect=1s poll=100ms\n")
	views := [3]string{"leader 1", "follower 1 of n1", "follower 1 of n1"}
	silent := -1
	until := map[int]string{}
	for ms := 0; ms < 240_000; ms += 100 {
		if end, due := until[ms]; due {
			fmt.Fprintf(&b, "%dms nemesis heal %s\n", ms, end)
		}
		if r.IntN(300) == 0 {
			n := 1 + r.IntN(3)
			switch r.IntN(5) {
			case 0:
				views[n-1] = fmt.Sprintf("%s %d", [...]string{"leader", "follower", "candidate"}[r.IntN(3)], 1+r.IntN(ms/10000+2))
			case 1:
				silent = n - 1
			case 2:
				silent = -1
			case 3:
				fmt.Fprintf(&b, "%dms stall %dms\n", ms, 50+r.IntN(900))
			case 4:
				if len(until) == 0 || r.IntN(2) == 0 {
					if _, taken := until[ms+10_000]; !taken {
						fmt.Fprintf(&b, "%dms nemesis inject pause n%d: pause n%d\n", ms, n, n)
						until[ms+10_000] = fmt.Sprintf("pause n%d: resume n%d", n, n)
					}
				}
			}
		}
		for i, v := range views {
			if i != silent {
				fmt.Fprintf(&b, "%dms-%dms n%d %s\n", ms+10*i, ms+10*i+5, i+1, v)
			}
		}
	}
	b.WriteString("250s end\n")
	return b.String()
}
