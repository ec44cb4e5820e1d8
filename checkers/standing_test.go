package checkers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// TestAnswersEndWhatStands has n1 announce that it leads, and answer something a little later: if that is something else, its line stands no
// more when n2 announces that it leads.
func TestAnswersEndWhatStands(t *testing.T) {
	for answer, stands := range map[string]bool{
		"leader 1 of n1 tenure 1": true, "unknown": true, "server": true, "unknown 1 of n1": true, "unknown torn": true,
		"candidate 1 of n1 tenure 1": false, "leader 2 of n1 tenure 1": false, "leader 1 of n1 tenure 2": false,
		"leader 1 of n3 tenure 1": false, "leader 1 tenure 1": false, "leader 1 of n1 tenure 2 torn": false,
		"unknown 2 of n1": false, "unknown 1 of n3": false, "server 2": false,
	} {
		h, err := parseHistory(fmt.Sprintf(`nodes n1 n2 n3
bounds silence=1s elect=15s poll=100ms
flags standing
1s         n1     announces leader 1 of n1 tenure 1
1.1s       n2 n3  announces follower 1 of n1
5s-5.1s    n1     %s
8s         n2     announces leader 3 of n2 tenure 1
20s        end
`, answer))
		require.NoError(t, err, answer)
		r := CheckSome(t.Context(), h, []string{"exclusive-leadership"})[0]
		want := Valid
		if stands {
			want = Invalid
		}
		require.Equal(t, want, r.Verdict, answer)
	}
}

// TestLinesSoonAfterAStart has n3 killed, started at once, and tell whom it knows before a line of its process before must have been read: that
// line does not stand, and where nobody asks n3 it is no use to say that it should be asked more often.
func TestLinesSoonAfterAStart(t *testing.T) {
	for asked, want := range map[string]string{
		"":                              "no log line of n3 surely stood for longer than 1 s, and one that comes soon after a process ended may be of that: ask every node, too",
		"1.5s-1.6s n3 follower 1 of n1": "n3 gave no answer for longer than 1 s: ask every node, more often",
	} {
		h, err := parseHistory(`nodes n1 n2 n3
bounds silence=1s elect=4s poll=100ms
flags standing
1s         n1     announces leader 1 of n1
1.1s       n2 n3  announces follower 1 of n1
` + asked + `
3s-3.1s    nemesis inject kill n3: kill n3
3.2s-3.3s  nemesis heal kill n3: start n3
3.5s       n3     announces follower 1 of n1
20s        end
`)
		require.NoError(t, err)
		r := CheckSome(t.Context(), h, []string{"learns-leader"})[0]
		require.Equal(t, Unknown, r.Verdict, r.Why)
		require.Contains(t, r.Why, want)
	}
}

// TestLinesOfStrangers has begin name no nodes, or all but one: what they announce stands as that of others does, until one is killed, or may
// have been.
func TestLinesOfStrangers(t *testing.T) {
	for kill, want := range map[string]Verdict{
		"": Invalid, "2s-4s  nemesis inject kill n4: kill n4; failed": Invalid,
		"2s-4s  nemesis inject kill n4: kill n4": Valid, "2s-4s  nemesis inject kill n4: kill n4; unseen": Valid,
		"2s-4s  nemesis inject kill n4: kill n4; unseen\n3s n4 announces leader 1":                                            Valid,
		"2s-4s  nemesis inject much n1: skew n1, fill n1, throttle n1, squeeze n1, hide n1; unseen\n3s n4 announces leader 1": Invalid,
	} {
		h, err := parseHistory(lineOf("n4", kill))
		require.NoError(t, err)
		ops, setup := slices.Clone(h.Ops), *h.Ops[0].Setup
		setup.Nodes = nil
		ops[0].Setup = &setup
		h, err = history.New(ops)
		require.NoError(t, err)
		r := CheckSome(t.Context(), h, []string{"exclusive-leadership"})[0]
		require.Equal(t, want, r.Verdict, "%s: %s", kill, r.Why)

		h, err = parseHistory(strings.ReplaceAll(lineOf("stranger", kill), "n4", "stranger"))
		require.NoError(t, err)
		r = CheckSome(t.Context(), h, []string{"exclusive-leadership"})[0]
		require.Equal(t, want, r.Verdict, "%s: %s", kill, r.Why)
	}
}

// lineOf is a history in which a node announces that it leads, and then n2 does; between the two may be more.
func lineOf(node, more string) string {
	nodes, added := "n1 n2 n3", "0s "+node+" knocks\n"
	if node != "stranger" {
		nodes, added = nodes+" "+node, ""
	}
	return fmt.Sprintf(`nodes %s
bounds silence=1s elect=4s poll=100ms
flags standing
%s0.9s   n2  announces follower 1
1s     %s  announces leader 1
1s     n1 n3  announces follower 1
%s
4.5s   n2  announces leader 2
9s     end
`, nodes, added, node, more)
}
