package checkers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// looking has calm looked at after so many answers, until a test ends.
func looking(t *testing.T, much, more int) {
	before, beside := muchCalm, moreCalm
	t.Cleanup(func() { muchCalm, moreCalm = before, beside })
	muchCalm, moreCalm = much, more
}

// seldom is more answers than any history of these tests has.
const seldom = 1 << 30

// TestWhoseAnswerIsLeftOut counts no term of an answer that may be of the member that was there before.
func TestWhoseAnswerIsLeftOut(t *testing.T) {
	g := newGathering()
	g.seen[g.node("n1")].another = 5
	g.leave(&answer{from: 5, to: 9, polled: true, role: history.Follower, term: 1}, 1)
	require.Zero(t, g.left.tells)
	g.leave(&answer{from: 6, to: 9, polled: true, role: history.Follower, term: 1}, 1)
	require.Equal(t, 1, g.left.tells)
}

// TestCalmIsLeftOut judges histories with long stretches of calm with all their answers, and without most of them: nothing but
// the memory that it takes may differ.
func TestCalmIsLeftOut(t *testing.T) {
	looking(t, seldom, seldom)
	judge := func(h *history.History, much, more int) ([]Result, string, int) {
		muchCalm, moreCalm = much, more
		j := Begin()
		for i := range h.Ops {
			j.Add(&h.Ops[i])
		}
		known, kept := pointed(j.facts), len(j.answers)
		results := j.End(context.Background())
		for i := range results {
			results[i].Drawing = nil
		}
		return results, known, kept
	}
	all := append(goldens(t), minutes(t, 2))
	for seed := range uint64(40) {
		h, err := parseHistory(calmly(seed))
		require.NoError(t, err)
		all = append(all, h)
	}
	overtaken, err := parseHistory(`nodes n1 n2 n3
bounds silence=300ms elect=1s poll=100ms
0s..60s/100ms n2 n3 follower 1 of n1
0s..60s/100ms+5ms n1 leader 1
59.85s-59.95s n1 leader 1
60s n1 follower 2
61s end`)
	require.NoError(t, err)
	all = append(all, overtaken) // its last claim is not the one that came last
	for _, member := range []string{
		"2s-2.1s nemesis inject remove-member n3: remove n3\n3s-3.2s nemesis heal remove-member n3: voter n3\n3.1s-3.3s n3 follower 9",
		"2s n3 follower 9\n2.1s-2.2s nemesis inject remove-member n3: remove n3; failed",
		"2s n3 follower 9\n2.1s-2.2s nemesis inject remove-member n3: remove n3; untold",
		"2s n3 follower 9\n2.1s-30s nemesis inject remove-member n3: remove n3",
		"2s n3 follower 9\n2.1s-2.2s nemesis inject remove-member n3: remove n3; unseen",
		"2s n3 follower 9\n2.1s-2.2s nemesis inject remove-member n3: remove n3; unended",
	} {
		h, err := parseHistory("nodes n1 n2 n3\nbounds silence=300ms elect=1s poll=100ms\n0s..60s/100ms n2 n3 follower 1 of n1\n" + member + "\n61s end")
		require.NoError(t, err)
		all = append(all, h) // whose terms are no more compared with what the member before it said
	}
	for seed := range uint64(40) {
		h, err := parseHistory(spokenCalmly(seed))
		require.NoError(t, err)
		all = append(all, h)
	}
	before, after := 0, 0
	for i, h := range all {
		results, known, n := judge(h, seldom, seldom)
		thinned, same, m := judge(h, 4, 16)
		require.Equal(t, known, same, i)
		require.Equal(t, results, thinned, i)
		before, after = before+n, after+m
	}
	require.Less(t, after, before*3/4)
}

// pointed tells which answers are known by their numbers, and how many of all there were of a kind.
func pointed(f *facts) string {
	var b strings.Builder
	op := func(k int32) int {
		if k < 0 {
			return -1
		}
		return f.answers[k].op
	}
	for _, l := range f.leads {
		fmt.Fprintln(&b, l.node, l.term, l.since, l.asked, op(l.first), op(l.last), op(l.lost), op(l.told), op(l.said), op(l.denied))
	}
	for _, h := range f.heights {
		fmt.Fprintln(&b, h.term, op(h.by))
	}
	for n := range f.seen {
		fmt.Fprintln(&b, op(f.seen[n].said), op(f.seen[n].stands))
	}
	count := f.left
	count.tells, count.lower = 0, 0 // monotonic-term has figures of them
	for i := range f.answers {
		a := &f.answers[i]
		if a.claims() && a.term != 0 {
			count.claims++
		}
	}
	fmt.Fprintf(&b, "%+v\n", count)
	return b.String()
}

// calmly is a history of nodes that say the same again and again, of what befalls them now and then, and of what they make of
// it, wrong or right.
func calmly(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 9))
	var b strings.Builder
	b.WriteString("nodes n1 n2 n3\nbounds silence=300ms elect=1s poll=100ms\n")
	switch r.IntN(6) {
	case 0:
		b.WriteString("flags no-terms\n")
	case 1:
		b.WriteString("flags standing\n")
	}
	views := [3]string{"leader 1", "follower 1 of n1", "follower 1 of n1"}
	silent := -1
	took := [3]int{5, 5, 5}
	until, busy := map[int]string{}, 0
	for ms := 0; ms < 160_000; ms += 100 {
		if end, due := until[ms]; due {
			fmt.Fprintf(&b, "%dms nemesis heal %s\n", ms, end)
			delete(until, ms)
		}
		if r.IntN(300) == 0 {
			n := 1 + r.IntN(3)
			switch r.IntN(12) {
			case 0, 1:
				views[n-1] = fmt.Sprintf("%s %d", [...]string{"leader", "follower", "candidate", "unknown"}[r.IntN(4)], r.IntN(ms/10000+2))
			case 2:
				silent = n - 1
			case 3:
				silent = -1
			case 4:
				fmt.Fprintf(&b, "%dms stall %dms\n", ms, 50+r.IntN(900))
			case 5:
				if _, taken := until[ms+10_000]; !taken && ms > busy && (len(until) == 0 || r.IntN(2) == 0) {
					fmt.Fprintf(&b, "%dms nemesis inject pause n%d: pause n%d\n", ms, n, n)
					until[ms+10_000] = fmt.Sprintf("pause n%d: resume n%d", n, n)
				}
			case 6:
				took[n-1] = 5 + r.IntN(250) // polls overlap
			case 7:
				fmt.Fprintf(&b, "%dms n%d announces %s %d\n", ms+7, n, [...]string{"leader", "follower"}[r.IntN(2)], 1+r.IntN(ms/10000+2))
			case 8:
				fmt.Fprintf(&b, "%dms-%dms n%d follower %d torn\n", ms, ms+50, n, r.IntN(ms/10000+2))
			case 9:
				fmt.Fprintf(&b, "%dms n%d exits\n", ms+8, n) // and may be back at once, as who it was
			case 10, 11:
				if len(until) == 0 {
					busy = ms + r.IntN(2)*3_000 // while it is killed, others are asked often
					fmt.Fprintf(&b, "%dms-%dms nemesis inject kill n%d: kill n%d\n", ms, busy, n, n)
					until[ms+5_000] = fmt.Sprintf("kill n%d: start n%d", n, n)
				}
			}
		}
		for i, v := range views {
			if i != silent {
				fmt.Fprintf(&b, "%dms-%dms n%d %s\n", ms+10*i, ms+10*i+1+r.IntN(took[i]), i+1, v)
			}
		}
	}
	b.WriteString("170s end\n")
	return b.String()
}

// spokenCalmly is a history of nodes whose log lines stand, and are few. One of them may be polled, too.
func spokenCalmly(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 11))
	var b strings.Builder
	b.WriteString("nodes n1 n2 n3\nbounds silence=300ms elect=1s poll=100ms\nflags standing\n")
	ms, paused := 0, 0
	for term := range 6 {
		leader := 1 + r.IntN(3)
		for n := 1; n <= 3; n++ {
			role := "follower"
			if n == leader || r.IntN(10) == 0 {
				role = "leader"
			}
			fmt.Fprintf(&b, "%dms n%d announces %s %d\n", ms+r.IntN(400), n, role, term+r.IntN(2))
		}
		next := ms + 1000 + r.IntN(60_000)
		switch n := 1 + r.IntN(3); r.IntN(6) {
		case 0:
			fmt.Fprintf(&b, "%dms-%dms nemesis inject pause n%d: pause n%d%s\n", ms+500, ms+500+r.IntN(400), n, n, []string{"", "; unseen"}[r.IntN(2)])
			paused = n
		case 1:
			fmt.Fprintf(&b, "%dms nemesis inject slow n1 %d: slow n1-n2\n", ms+600, ms)
		case 2:
			fmt.Fprintf(&b, "%dms n%d exits\n", ms+700, n)
		case 3:
			fmt.Fprintf(&b, "%dms..%dms/100ms n%d follower %d\n", ms+800, next-100, n, term)
		}
		if paused > 0 && r.IntN(2) == 0 {
			fmt.Fprintf(&b, "%dms nemesis heal pause n%d: resume n%d\n", next-50, paused, paused)
			paused = 0
		}
		ms = next
	}
	fmt.Fprintf(&b, "%dms end\n", ms+r.IntN(60_000))
	return b.String()
}

// standingFor takes up a history in which lines are said again so many times before they are said more seldom.
func standingFor(t *testing.T, history string, often int) *Judging {
	t.Helper()
	h, err := parseHistory(history)
	require.NoError(t, err)
	j := Begin()
	j.mostRepeats = often
	for i := range h.Ops {
		j.Add(&h.Ops[i])
	}
	for len(j.ahead) > 0 {
		j.takeNext()
	}
	return j
}

// TestLinesStandForYears judges lines of a log that stand for thirty years: what was said stays said, and takes no memory.
func TestLinesStandForYears(t *testing.T) {
	const few = 1 << 10
	const said = "nodes n1 n2 n3\nbounds silence=300ms elect=1s poll=100ms\nflags standing\n0s n1 announces leader 1\n0s n2 n3 announces follower 1 of n1\n"
	const doubted = "nemesis inject stop n3: stop n3\n1740.2s n3 follower 1 of n1\n1740.2s n3 announces follower 1 of n1"
	for _, c := range []struct {
		more    string
		most    int
		verdict Verdict
	}{
		{"262800h end\n", few / 4, Valid},
		{"1s nemesis inject pause n3: pause n3; unseen\n262800h end\n", few / 4, Unknown}, // nobody knows whether it is up: its line stands no more
		{"1s " + doubted + "\n262800h end\n", 7 * few, Valid},                             // so it is with n3, though it says more; n1 leads on
		{ // as often as five minutes call for, however long the run
			"1s nemesis inject cut-link n2 n3: cut n2-n3\n1740s " + doubted + "\n2048s end\n", few, Valid,
		},
	} {
		j := standingFor(t, said+c.more, few)
		require.Less(t, len(j.answers), c.most)
		results := j.End(t.Context())
		k := slices.IndexFunc(results, func(r Result) bool { return r.Property == "elects" })
		require.Equal(t, c.verdict, results[k].Verdict, results[k].Why)
	}
}

// TestLinesAreSaidAgainAsOften has three lines stand for long, and then for a while: in each of the two they are said again 1,024 times as
// often as ever, and from there on as many times again, however late that is.
func TestLinesAreSaidAgainAsOften(t *testing.T) {
	const few = 1 << 10
	j := standingFor(t, `nodes n1 n2 n3
bounds silence=300ms elect=100000s poll=100ms
flags standing
0s n1 announces leader 1
0s n2 n3 announces follower 1 of n1
50000s n1 announces leader 2
51000s end
`, few)
	require.InDelta(t, 3*4*few, len(j.answers), 20)
}

// TestWhatCalmIs leaves out what it may of a minute in which nodes say the same every 400 ms, until something happens. What is
// kept lies in the margins of what stirs: 6.4 s behind it, and 8.4 s before.
func TestWhatCalmIs(t *testing.T) {
	const others = "nodes n1 n2 n3\nbounds silence=1s elect=2s poll=400ms\n0s..60s/400ms n2 n3 follower 1 of n1\n"
	const leader = others + "0s..60s/400ms n1 leader 1\n"
	const all, midst, once = "0s-59.6s", "0s-6.4s 51.6s-59.6s", "0s-6.4s 22s-36.4s 51.6s-59.6s"
	for _, c := range []struct{ what, history, want string }{
		{"nothing happens", leader, midst},
		{"a fault", leader + "30.1s nemesis inject slow n1: slow n1-n2", once},
		{"the machine stands still", leader + "30.1s stall 100ms", once},
		{"a node exits", others + "0s..30s/400ms n1 leader 1\n30.1s n1 exits", once},
		{"the nemesis asks a leader to go", leader + "30.1s nemesis inject hand-over n1: ask n1", once},
		{"a leader is asked to go", leader + "30.1s n1 resigns refused", once},
		{"it announces the same", leader + "30.1s n1 announces leader 1", once},
		{"it says the same, torn", leader + "30.1s n1 leader 1 torn", once},
		{"another role", leader + "30.1s n1 candidate 1", "0s-6.4s 22s-36.8s 51.6s-59.6s"},
		{"another term", leader + "30.1s n1 leader 2", "0s-6.4s 22s-36.8s 51.6s-59.6s"},
		{"another tenure", leader + "30.1s n1 leader 1 tenure 2", "0s-6.4s 22s-36.8s 51.6s-59.6s"},
		{"another leader", leader + "30.1s n1 leader 1 of n2", "0s-6.4s 22s-36.8s 51.6s-59.6s"},
		{"nothing, as often as it must be asked", others + "0s..60s/1200ms n1 leader 1", midst},
		{"it is asked too seldom", others + "0s..60s/1600ms n1 leader 1", all},
		{"it is asked too seldom for elections", strings.Replace(others, "elect=2s", "elect=500ms", 1) + "0s..60s/800ms n1 leader 1", all},
		{"it falls silent", others + "0s..20s/400ms n1 leader 1", "0s-26s 51.6s-59.6s"},
		{"it may not be up", leader + "0s nemesis inject pause n1: pause n1; unseen", all},
		{"a first answer that is torn", others + "0s n1 unknown torn\n0.8s..60s/400ms n1 unknown", "0s-7.2s 51.6s-59.6s"},
		{"it only serves now", others + "0s..30s/400ms n1 leader 1\n30s..60s/400ms n1 server", "0s-6.4s 21.6s-36.4s 51.6s-59.6s"},
		{"who once said more only serves now", strings.Replace(leader, "\n", "\nservers s1\n", 1) + "0s..30s/400ms s1 follower 1\n30s..60s/400ms s1 server", "0s-6.4s 21.6s-59.6s"},
		{"one that serves is heard of", strings.Replace(leader, "\n", "\nservers s1\n", 1) + "30.1s..60s/400ms s1 server", once},
	} {
		t.Run(c.what, func(t *testing.T) {
			looking(t, 4, seldom)
			require.Equal(t, c.want, keptOf(t, c.history+"\n60s stall 0s"))
		})
	}
	for _, c := range []struct {
		much, more int
		want       string
	}{
		{447, seldom, midst}, {448, seldom, all}, // when calm ends
		{seldom, 447, "0s-6.4s 51.2s-59.6s"}, {seldom, 448, all}, // while it lasts
		{seldom, 100, "0s-6.4s 45.6s-59.6s"}, // each time when there are so many more
	} {
		looking(t, c.much, c.more)
		require.Equal(t, c.want, keptOf(t, leader+"60s stall 0s"), c)
	}
}

// TestWhatIsNotRepeated leaves out what nodes would repeat every 400 ms of what they announced, until something happens: what is kept lies
// in the margins of what stirs, 6.8 s behind it, and 9.2 s before.
func TestWhatIsNotRepeated(t *testing.T) {
	const nodes = "nodes n1 n2 n3\nflags standing\nbounds silence=1200ms elect=2s poll=400ms\n"
	const said = nodes + "0s n1 announces leader 1\n0s n2 announces follower 1 of n1\n"
	const all = said + "0s n3 announces follower 1 of n1\n"
	const last = "50.8s-58.4s 58.799999999s-58.799999999s 58.8s-59.6s" // when it is sure for the last time, and when it is not any more
	for _, c := range []struct {
		what, history string
		much          int
		want          string
	}{
		{"nothing happens", all, 4, "0s-6.8s " + last},
		{"one says nothing", said, 4, "0s-6.8s " + last},
		{"one falls silent", said + "0s..20s/400ms n3 follower 1 of n1", 4, "0s-26.4s " + last},
		{"one is asked, too", all + "0s..20s/400ms n3 follower 1 of n1", 4, "0s-6.8s " + last},
		{"one may stand still", all + "0.1s nemesis inject pause n3: pause n3; unseen", 4, "0s-6.8s " + last},
		{"one may not be up", all + "0.1s nemesis inject stop n3: stop n3\n0.4s n3 follower 1 of n1\n0.4s n3 announces follower 1 of n1", 4, "0s-7.2s " + last},
		{"a fault", all + "30.1s nemesis inject slow n1: slow n1-n2", 4, "0s-6.8s 21.2s-36.8s " + last},
		{"just enough", all, 107, "0s-6.8s " + last},
		{"too little", all, 108, "0s-6.8s 49.6s-58.4s 58.799999999s-58.799999999s 58.8s-59.6s"},
	} {
		t.Run(c.what, func(t *testing.T) {
			looking(t, c.much, seldom)
			require.Equal(t, "0s-0s "+c.want, keptOf(t, c.history)) // it repeats at once what it announced
		})
	}
}

// keptOf tells when n2 gave the answers that are kept: those 400 ms apart belong together.
func keptOf(t *testing.T, text string) string {
	h, err := parseHistory(text + "\n60s end\n")
	require.NoError(t, err)
	f := gather(h)
	var all []span
	for i := range f.answers {
		a := &f.answers[i]
		if f.nodes[a.node] != "n2" {
			continue
		}
		if n := len(all); n > 0 && a.to-all[n-1].to == 400*time.Millisecond {
			all[n-1].to = a.to
		} else {
			all = append(all, span{a.to, a.to})
		}
	}
	var words []string
	for _, s := range all {
		words = append(words, fmt.Sprintf("%v-%v", s.from, s.to))
	}
	return strings.Join(words, " ")
}
