package checkers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

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
				j := rereadable(h, property, &again)
				for i := range h.Ops {
					op := h.Ops[i]
					j.Add(&op)
				}
				r := j.End(context.Background())[0]
				drawn[r.Verdict]++
				require.Empty(t, r.Stack, "%s\n%s", r.Why, text)
				const held = ", because it can have held only " // who forgets does not know
				if a, ok := j.watchers[0].(*accesses); ok && (a.forgot || a.wrong) {
					whole.Why, _, _ = strings.Cut(whole.Why, held)
					require.NotContains(t, r.Why, held, text)
					require.True(t, r.Verdict != Valid || a.wrong || r.Drawing == nil, "a part of it is drawn\n%s", text)
				}
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

// TestWhoReadAWriteIsRecalled has a write of unknown outcome that surely happened before another: who read it then is forgotten, and
// shows that it cannot be what was read again.
func TestWhoReadAWriteIsRecalled(t *testing.T) {
	defer func(was int) { mostUses = was }(mostUses)
	mostUses = 3
	h, err := parseHistory("nodes n1\n1ms client write 1 0 unknown\n1ms client read 1 0\n2ms client write 1 1\n3ms client read 1 0\n9ms end")
	require.NoError(t, err)
	again := 0
	j := rereadable(h, "fencing", &again)
	for i := range h.Ops {
		j.Add(&h.Ops[i])
	}
	r := j.End(context.Background())[0]
	require.Equal(t, Invalid, r.Verdict, r.Why)
	require.Equal(t, []int{1, 4, 6, 8}, r.Ops)
	require.Equal(t, 1, again)
}

// TestTheEarliestViolationIsRecalled has two violations: a value that is read though another was written since, or nothing, and then
// a lower token that is accepted. What is recalled comes in the order in which it began, each of it once, so that the first one is
// shown.
func TestTheEarliestViolationIsRecalled(t *testing.T) {
	defer func(was int) { mostUses = was }(mostUses)
	mostUses = 5
	for _, c := range []struct {
		read, why string
		ops       []int
	}{
		{"2 5", "no order explains n1's write with token 2 (value 5, accepted), n1's write with token 2 (value 6, accepted) and " +
			"a read with token 2 (value 5, seen); none is left when a read with token 2 (value 5) was seen by 0.007 s", []int{10, 12, 16}},
		{"0 0", "a read with token 0 was seen by 0.007 s, though token 2 had been accepted by 0.006 s", []int{12, 16}},
	} {
		var b strings.Builder
		b.WriteString("nodes n1 n2\n")
		for i := 1; i <= 6; i++ { // when the last of them begins, what was written before the fifth is forgotten
			fmt.Fprintf(&b, "%dms n1 write 2 %d\n", i, i)
		}
		fmt.Fprintf(&b, "6.5ms client read failed\n7ms client read %s\n8ms n2 write 1 9\n9ms end\n", c.read)
		h, err := parseHistory(b.String())
		require.NoError(t, err)
		again := 0
		j := rereadable(h, "fencing", &again)
		for i := range h.Ops {
			j.Add(&h.Ops[i])
		}
		require.True(t, j.watchers[0].(*accesses).forgot)
		r := j.End(t.Context())[0]
		require.Equal(t, c.why, r.Why)
		require.Equal(t, c.ops, r.Ops)
		require.Equal(t, 1, again)
	}
}

// TestTheFirstSharedTokenIsShown has a token of two nodes that is known at once, and one of which the second pass finds that it was of
// two before.
func TestTheFirstSharedTokenIsShown(t *testing.T) {
	defer func(was int) { mostRecent = was }(mostRecent)
	mostRecent = 2
	h, err := parseHistory(`nodes n1 n2
		1ms n1 write 1 1
		2ms n1 write 2 2
		3ms n1 write 3 3
		4ms n2 write 1 4 rejected
		5ms n1 write 9 5
		6ms n2 write 9 6
		9ms end`)
	require.NoError(t, err)
	again := 0
	j := rereadable(h, "fencing", &again)
	for i := range h.Ops {
		j.Add(&h.Ops[i])
	}
	require.Equal(t, uint64(9), j.watchers[0].(*accesses).sharers[1].token)
	r := j.End(t.Context())[0]
	require.Equal(t, "token 1 was presented by n1 and by n2: no fence can tell them apart", r.Why)
	require.Equal(t, []int{2, 8}, r.Ops)
	require.Equal(t, 1, again)
}

// TestVotesBeforeAChangeAreLookedUp has n3 vote twice in a term that had been forgotten, and be taken out only then: the second pass knows of
// that, and still that it was one voter.
func TestVotesBeforeAChangeAreLookedUp(t *testing.T) {
	defer func(was int) { mostRecent = was }(mostRecent)
	mostRecent = 2
	h, err := parseHistory(`nodes n1 n2 n3
		1ms n3 votes 1 n1
		2ms n1 votes 2 n1
		3ms n1 votes 3 n1
		4ms n3 votes 1 n2
		5ms nemesis inject remove-member n3: remove n3
		9ms end`)
	require.NoError(t, err)
	again := 0
	j := rereadable(h, "vote-once", &again)
	for i := range h.Ops {
		j.Add(&h.Ops[i])
	}
	require.Equal(t, "in term 1 n3 voted for n1 and for n2", j.End(t.Context())[0].Why)
	require.Equal(t, 1, again)
}

// TestOffenceWithoutLastOrder does not tell when the last order died where that took too much to find out.
func TestOffenceWithoutLastOrder(t *testing.T) {
	core := []linear.Access{{Access: history.Access{Token: 1, Value: 7}, Kind: linear.Read, Return: 5}}
	require.Equal(t, "no order explains a read with token 1 (value 7, seen)", offence(core, nil, nil))
}

// TestTheClashIsLookedUp has an update that two leaders sent, of which only the numbers are kept: others of that number, and of that
// leader, came before it.
func TestTheClashIsLookedUp(t *testing.T) {
	h, err := parseHistory(`nodes n1 n2 n3 n4
		1ms n2 applies 1 1 of n1
		2ms n3 applies 1 2
		3ms n2 applies 1 2 of n1
		4ms n4 applies 1 2 of n3
		9ms end`)
	require.NoError(t, err)
	j := rereadable(h, "ordered-updates", nil)
	for i := range h.Ops {
		j.Add(&h.Ops[i])
	}
	r := j.End(t.Context())[0]
	require.Equal(t, "n2 applied update 2 of term 1 from n1, and n4 applied update 2 of term 1 from n3", r.Why)
	require.Equal(t, []int{3, 4}, r.Ops)
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
	recent, uses := mostRecent, mostUses
	defer func() { mostRecent, mostUses = recent, uses }()
	mostRecent, mostUses = 2, 1
	for _, c := range []struct{ property, history string }{
		{"ordered-updates", "1ms n2 applies 1 1 of n1\n2ms n3 applies 1 1 of n2"},
		{"vote-once", "1ms n1 votes 1 n1\n2ms n1 votes 2 n1\n3ms n1 votes 3 n1\n4ms n1 votes 1 n2"},
		{"elects", "0s n1 n2 n3 follower 1\n1ms n1 votes 1 n1\n2ms n1 votes 2 n1\n3ms n1 votes 3 n1\n4ms n1 votes 1 n2"},
		{"fencing", "1ms n1 write 1 1\n2ms n1 write 2 2\n3ms n1 write 3 3\n4ms n2 write 1 4 rejected"}, // whose token it was
		{"fencing", "1ms n1 write 1 1\n2ms n1 write 2 2\n3ms n1 write 2 3\n4ms client read 1 1"},       // who wrote that
	} {
		h, err := parseHistory("nodes n1 n2 n3\nbounds silence=1s elect=1s poll=1s\n" + c.history + "\n9ms end\n")
		require.NoError(t, err)
		j := BeginSome([]string{c.property})
		j.Reread(func(func(*history.Op)) error { return errors.New("it is gone") })
		for i := range h.Ops {
			j.Add(&h.Ops[i])
		}
		r := j.End(context.Background())[0]
		require.Equal(t, Unknown, r.Verdict, c.history)
		require.Contains(t, r.Why, "it is gone", c.history)
	}
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
		requireInOrder(t, &s)
	}
	s := newSenders()
	for i := range uint64(mostInChunk) {
		s.tell(number{1, 2 * i}, "n1")
	}
	require.Len(t, s.chunks, 1, "just full")
	s.tell(number{1, 2 * uint64(mostInChunk)}, "n1")
	require.Len(t, s.chunks, 2)
	s = newSenders()
	for i := range 100_000 {
		s.tell(number{1, uint64(i ^ 1)}, "n1")
	}
	require.Len(t, s.chunks, 1)
	require.Len(t, s.chunks[0], 1, "numbers without a gap are one stretch")
	require.Equal(t, 100_000, s.count)
	small := s.size()
	for i := range 2 * uint64(mostInChunk) {
		s.tell(number{2, 2 * i}, "")
	}
	require.Len(t, s.chunks, 4, "cut in halves when one is full")
	requireInOrder(t, &s)
	require.Greater(t, s.size(), small+2*mostInChunk*int(unsafe.Sizeof(stretch{})))
	s.tell(number{3, 1}, "n2")
	require.Equal(t, 3, s.leaderships(nil), "of the second term nobody knows whose it is, of the others it is one")
	require.Equal(t, 3, s.leaderships(map[leader]bool{{2, "n3"}: true}))
	require.Equal(t, 5, s.leaderships(map[leader]bool{{2, "n3"}: true, {2, "n1"}: true, {1, "n2"}: true}))
}

// requireInOrder looks at stretches as they are kept: short chunks, none of them empty, of stretches that do not overlap.
func requireInOrder(t *testing.T, s *senders) {
	t.Helper()
	var before *stretch
	for _, chunk := range s.chunks {
		require.NotEmpty(t, chunk)
		require.LessOrEqual(t, len(chunk), mostInChunk)
		for i := range chunk {
			at := &chunk[i]
			require.LessOrEqual(t, at.first, at.last)
			if before != nil && before.term == at.term {
				require.Less(t, before.last, at.first)
				require.False(t, i > 0 && before.from == at.from && before.last+1 == at.first, "they are one")
			} else if before != nil {
				require.Less(t, before.term, at.term)
			}
			before = at
		}
	}
}

// TestRecent keeps the higher half of what is known when there is too much of it, and tells what comes late.
func TestRecent(t *testing.T) {
	before := mostRecent
	defer func() { mostRecent = before }()
	mostRecent = 4
	f := &facts{}
	r := newRecent[int](f)
	for n := uint64(1); n <= 6; n++ {
		*r.of(n) = int(n)
	}
	require.Len(t, r.known, 6, "a history that is read once is kept whole")
	f.again = func(func(*history.Op, int)) error { return nil }
	r = newRecent[int](f)
	empty := r.size(0)
	for n := uint64(10); n < 14; n++ {
		f.ops++
		*r.of(n) = int(n)
	}
	require.Len(t, r.known, 4)
	require.False(t, r.forgot)
	full := r.size(0)
	require.Equal(t, empty+4*(8+32), full)
	require.Equal(t, full+4*100, r.size(100))
	f.ops++
	*r.of(14) = 14 // one too many: 10, 11 and 12 are forgotten
	require.Equal(t, uint64(12), r.floor)
	require.Equal(t, 13, *r.of(13))
	require.Equal(t, 14, *r.of(14))
	require.Len(t, r.known, 2)
	f.ops = 20
	require.Nil(t, r.of(12), "late")
	require.Nil(t, r.of(3))
	f.ops = 30
	require.Nil(t, r.of(12))
	require.Equal(t, map[uint64]int{12: 19, 3: 19}, r.late, "since its first op")
	require.Equal(t, empty+2*(8+32)+2*32, r.size(0))
	for n := uint64(15); n < 100; n++ {
		f.ops++
		*r.of(n) = int(n)
		require.LessOrEqual(t, len(r.known), 4)
	}
	require.Equal(t, 90, r.count, "those that were late are counted by the second pass")

	second := r.replay()
	v, late := second.at(50, 3)
	require.Nil(t, v, "it was never late")
	require.False(t, late)
	v, late = second.at(12, 2)
	require.False(t, late, "what was known in time")
	*v = 7
	v, late = second.at(12, 19)
	require.True(t, late)
	require.Equal(t, 7, *v)
	require.Equal(t, 90, r.count, "it was known before")
	_, late = second.at(3, 25)
	require.True(t, late)
	require.Equal(t, 91, r.count)
}

// TestUsesThatSayNothingMoreAreForgotten: what is kept of a long history does not grow with it, whatever is in it.
func TestUsesThatSayNothingMoreAreForgotten(t *testing.T) {
	uses := mostUses
	defer func() { mostUses = uses }()
	mostUses = 8
	var b strings.Builder
	b.WriteString("nodes n1 n2 n3\n0ms-99s n2 write 9 77777 unknown\n") // one is under way all the while
	for i := range 2000 {
		what := []string{"write 5 %d", "read 5 %d", "read failed", "write 2 %d rejected", "read unknown", "write 4 %d unknown"}[i%6]
		if strings.Contains(what, "%d") {
			what = fmt.Sprintf(what, i-i%6)
		}
		fmt.Fprintf(&b, "%dms-%dms n1 %s\n", 10+10*i, 15+10*i, what)
	}
	b.WriteString("99s end\n")
	h, err := parseHistory(b.String())
	require.NoError(t, err)
	j := rereadable(h, "fencing", nil)
	a, most, looks, last := j.watchers[0].(*accesses), 0, 0, 0
	for i := range h.Ops {
		op := h.Ops[i]
		j.Add(&op)
		most = max(most, len(a.uses))
		if op.Type == history.Invoke {
			last++
		}
		if len(a.uses) < last {
			looks++
		}
		last = len(a.uses)
		for k := range a.uses {
			require.EqualValues(t, k, a.uses[k].At)
		}
	}
	require.LessOrEqual(t, most, 2*mostUses+2)
	require.Greater(t, looks, 100)
	require.Less(t, looks, 700, "not at each of them")
	r := j.End(context.Background())[0]
	require.NotEqual(t, Invalid, r.Verdict, r.Why)
}

// TestForgettingAccesses judges uses of a resource of which all that can be forgotten is forgotten at once, beside the same with all
// of them in memory: many small histories, in which much falls on one instant.
func TestForgettingAccesses(t *testing.T) {
	uses := mostUses
	defer func() { mostUses = uses }()
	said, forgot := map[Verdict]int{}, 0
	for seed := range uint64(3000) {
		text := accessesOf(seed)
		h, err := parseHistory(text)
		require.NoError(t, err)
		mostUses = 1
		whole := find("fencing").Check(context.Background(), h) // it cannot be read once more
		j := rereadable(h, "fencing", nil)
		for i := range h.Ops {
			op := h.Ops[i]
			j.Add(&op)
		}
		if a := j.watchers[0].(*accesses); a.forgot {
			forgot++
		}
		r := j.End(context.Background())[0]
		mostUses = uses
		said[r.Verdict]++
		require.Empty(t, r.Stack, text)
		require.Equal(t, whole.Verdict, r.Verdict, text)
		require.Equal(t, whole.Figures[:6], r.Figures[:6], text)
		for _, r := range []Result{whole, r} {
			if r.Verdict == Invalid && !strings.HasPrefix(r.Why, "token ") { // which two nodes presented
				require.False(t, porcupine.CheckOperations(linear.FenceModel, linear.Operations(accessed(h, r.Ops))), "ops %v of\n%s", r.Ops, text)
				all := withSources(h, r.Ops)
				require.False(t, porcupine.CheckOperations(linear.FenceModel, linear.Operations(accessed(h, all))), "ops %v of\n%s", all, text)
			}
		}
	}
	t.Logf("%v, of which %d forgot", said, forgot)
	require.Greater(t, said[Valid], 300)
	require.Greater(t, said[Invalid], 300)
	require.Greater(t, forgot, 1000)
}

// withSources are ops and, of those that read, all that wrote what was read: no read is accused of showing what was never there.
func withSources(h *history.History, ops []int) []int {
	all := slices.Clone(ops)
	for _, read := range h.Ops {
		if read.F != history.Read || !slices.Contains(ops, read.Index) {
			continue
		}
		for _, write := range h.Ops {
			if write.F == history.Write && write.Access == read.Access {
				all = append(all, write.Index)
			}
		}
	}
	return all
}

// accessesOf draws what leaders do to a resource that fences them off, in no more than a few instants; a few of its answers may be wrong.
func accessesOf(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 11))
	var b strings.Builder
	b.WriteString("nodes n1 n2 n3\n")
	if r.IntN(10) == 0 {
		b.WriteString("flags no-setup\n") // the first op is a use
	}
	wrong, wait := r.IntN(3) == 0, 2+r.IntN(2)
	now, token, value, held := 0, r.IntN(2), 0, [2]int{}
	for range 5 + r.IntN(14) {
		now += r.IntN(wait)
		if r.IntN(6) == 0 {
			token++
		}
		used := token
		if r.IntN(5) == 0 {
			used = r.IntN(token + 1)
		}
		took := r.IntN(3) * r.IntN(2)
		fmt.Fprintf(&b, "%dms-%dms n%d ", now, now+took, 1+used%3)
		switch r.IntN(8) {
		case 0:
			fmt.Fprintf(&b, "read %s\n", []string{"failed", "unknown"}[r.IntN(2)])
			continue
		case 1, 2, 3:
			told := held
			if wrong && r.IntN(6) == 0 {
				told = [2]int{r.IntN(token + 1), r.IntN(value + 1)}
			}
			fmt.Fprintf(&b, "read %d %d\n", told[0], told[1])
			continue
		}
		if value++; r.IntN(4) == 0 {
			value = 1 + r.IntN(value)
		}
		outcome := " rejected"
		if used >= held[0] || wrong && r.IntN(8) == 0 {
			outcome = ""
		}
		switch {
		case r.IntN(9) == 0 && outcome == "":
			outcome = []string{" unknown", " unended"}[r.IntN(2)]
			if r.IntN(2) == 0 {
				held = [2]int{used, value}
			}
		case outcome == "":
			held = [2]int{max(used, held[0]), value}
		}
		fmt.Fprintf(&b, "write %d %d%s\n", used, value, outcome)
	}
	fmt.Fprintf(&b, "%dms end\n", now+20)
	return b.String()
}

// rereadable begins to judge a history that can be read once more, as that in a file. again, if not nil, counts how often it was.
func rereadable(h *history.History, property string, again *int) *Judging {
	j := BeginSome([]string{property})
	j.Reread(func(each func(op *history.Op)) error {
		if again != nil {
			*again++
		}
		for _, op := range slices.Concat(h.Ops, h.Ops) { // of a file to which more has been added since
			each(&op)
		}
		return nil
	})
	return j
}
