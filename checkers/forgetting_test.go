package checkers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recount/checkers/linear"
	"recount/history"
)

// TestWhatIsForgottenChangesNothing judges histories that can be read once more, of which nearly all is forgotten, and the same
// with all that they hold in memory.
func TestWhatIsForgottenChangesNothing(t *testing.T) {
	recent, uses := mostRecent, mostUses
	defer func() { mostRecent, mostUses = recent, uses }()
	mostRecent, mostUses = 2, 3
	for property, draw := range map[string]func(*rapid.T) string{
		"vote-once":       anyVotes,
		"elects":          anyVotes, // which counts the terms in which votes were split
		"ordered-updates": anyUpdates,
		"fencing":         func(t *rapid.T) string { return anyWritesOf(t, 24) },
	} {
		t.Run(property, func(t *testing.T) {
			drawn, again := map[Verdict]int{}, 0
			rapid.Check(t, func(t *rapid.T) {
				text := draw(t)
				h, err := parseHistory(text)
				require.NoError(t, err)
				whole := find(property).Check(context.Background(), h)
				j := BeginSome([]string{property})
				j.Reread(func(each func(op *history.Op)) error {
					again++
					for i := range h.Ops {
						op := h.Ops[i] // as of a file, none of which is kept
						each(&op)
					}
					return nil
				})
				for i := range h.Ops {
					op := h.Ops[i]
					j.Add(&op)
				}
				r := j.End(context.Background())[0]
				drawn[r.Verdict]++
				require.Empty(t, r.Stack)
				if property == "fencing" && r.Verdict == Invalid && !slices.Equal(r.Ops, whole.Ops) {
					require.False(t, porcupine.CheckOperations(linear.FenceModel, linear.Operations(accessed(h, r.Ops))), "ops %v of\n%s", r.Ops, text)
					r.Ops, r.Why, r.From, r.To, r.about, r.Figures, whole.Figures =
						whole.Ops, whole.Why, whole.From, whole.To, whole.about, r.Figures[:6], whole.Figures[:6]
				}
				r.Drawing, whole.Drawing = nil, nil
				require.Equal(t, whole, r, text)
			})
			t.Logf("%v, %d read once more", drawn, again)
			require.NotZero(t, again)
			if property != "elects" { // that takes longer
				require.NotZero(t, drawn[Valid])
				require.NotZero(t, drawn[Invalid])
			}
		})
	}
}

// accessed are the accesses of some ops alone.
func accessed(h *history.History, ops []int) []linear.Access {
	j := BeginSome([]string{"fencing"})
	for i, op := range h.Ops {
		other := h.Other(i)
		if slices.Contains(ops, op.Index) || other >= 0 && slices.Contains(ops, h.Ops[other].Index) {
			j.Add(&op)
		}
	}
	return j.watchers[0].(*accesses).telling()
}

// anyVotes draws votes, and who claims to have won; mostly in terms that rise, but one in a while comes late, and one or two votes
// may be too many.
func anyVotes(t *rapid.T) string {
	number := func(most int, what string) int { return rapid.IntRange(0, most).Draw(t, what) }
	var b strings.Builder
	b.WriteString("nodes n1 n2 n3\nbounds silence=20ms elect=5ms poll=1ms\n0ms-1ms n1 follower 1\n0ms-1ms n2 follower 1\n0ms-1ms n3 follower 1\n")
	now, term := 1, 1
	for range 2 + number(20, "votes") {
		now++
		if number(2, "next term") == 0 {
			term += 1 + number(1, "skip")
		}
		in := term
		if number(4, "late") == 0 {
			in = number(term, "term")
		}
		candidate := 1 + in%3
		if number(9, "odd") == 0 {
			candidate = 1 + number(2, "candidate")
		}
		fmt.Fprintf(&b, "%dms n%d votes %d n%d\n", now, 1+number(2, "node"), in, candidate)
		if number(2, "claim") == 0 {
			fmt.Fprintf(&b, "%dms-%dms n%d leader %d\n", now, now, 1+in%3, 1+in)
		}
	}
	fmt.Fprintf(&b, "%dms end\n", now+20)
	return b.String()
}

// TestHistoriesThatCannotBeReadOnceMore have no verdict that takes it.
func TestHistoriesThatCannotBeReadOnceMore(t *testing.T) {
	h, err := parseHistory("nodes n1 n2 n3\n1ms n2 applies 1 1 of n1\n2ms n3 applies 1 1 of n2\n9ms end\n")
	require.NoError(t, err)
	j := BeginSome([]string{"ordered-updates"})
	j.Reread(func(func(*history.Op)) error { return errors.New("it is gone") })
	for i := range h.Ops {
		j.Add(&h.Ops[i])
	}
	r := j.End(context.Background())[0]
	require.Equal(t, Unknown, r.Verdict)
	require.Contains(t, r.Why, "it is gone")
}

// TestSenders tells senders of numbers in any order, beside a map that knows each.
func TestSenders(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 200 {
		s, want, told := newSenders(), map[number]string{}, map[leader]bool{}
		spread := uint64(1 + r.IntN(5000))
		for range 3000 {
			n := number{1 + r.Uint64N(uint64(1+round%3)), r.Uint64N(spread)}
			from := []string{"", "n1", "n1", "n2"}[r.IntN(1+round%4)]
			first, known := s.tell(n, from)
			was, ever := want[n]
			require.Equal(t, ever, known)
			require.Equal(t, was, first)
			if was == "" {
				want[n] = from
			}
		}
		for n, from := range want {
			told[leader{n.term, from}] = true
		}
		for l := range told {
			if l.from != "" {
				delete(told, leader{l.term, ""})
			}
		}
		require.Equal(t, len(told), s.leaderships(nil))
		require.Equal(t, len(want), s.count)
	}
	s := newSenders()
	for i := range 100_000 {
		s.tell(number{1, uint64(i ^ 1)}, "n1")
	}
	require.Len(t, s.chunks, 1)
	require.Len(t, s.chunks[0], 1, "numbers without a gap are one stretch")
	require.Equal(t, 100_000, s.count)
}
