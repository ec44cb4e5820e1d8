package checkers

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/checkers/linear"
	"recount/history"
)

// randomObjects are as many as testdata/random_objects.txt has lines.
const randomObjects = 500

// TestGoldenRandomObjects pins down what linearizable says of registers and locks that were used at random, some of it told
// wrongly, and how many configurations it took to find out: no shorter way to a verdict gets lost unseen. Look into a line
// with -run GoldenRandomObjects -random SEED.
func TestGoldenRandomObjects(t *testing.T) {
	if *randomSeed > 0 {
		text := randomObject(*randomSeed)
		h, err := parseHistory(text)
		require.NoError(t, err)
		t.Logf("%s\n%s", text, saidOfObjects(h))
		return
	}
	goldenLines(t, "testdata/random_objects.txt", randomObjects, func(seed uint64) string {
		h, err := parseHistory(randomObject(seed))
		require.NoError(t, err, "seed %d", seed)
		return saidOfObjects(h)
	})
}

// saidOfObjects is the verdict on a history, with the ops that show it, and the steps for each object.
func saidOfObjects(h *history.History) string {
	ctx := linear.WithMemory(context.Background(), 16<<20)
	var steps []int
	for _, o := range objects(h) {
		steps = append(steps, o.Decide(ctx).Steps)
	}
	r := find("linearizable").Check(ctx, h)
	return fmt.Sprintf("%v steps: %v %v: %s", steps, r.Verdict, r.Ops, r.Why)
}

// handled is what a client does in a random history.
type handled struct {
	who, key, did string
	call, ret     int // in ms
	point         int // when it takes effect
	value, old    string
	revision      int
	tells         bool // its revision
	outcome       string
}

// randomObject draws a history in the notation of testdata/README.md: clients use one or two registers or locks, which do
// what they should. Then some of it is told wrongly, or not at all.
func randomObject(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 5))
	one := func(in int) bool { return r.IntN(in) == 0 }
	locks, revisions, compared, distinct := one(5), one(4), one(2), one(4)
	clients, values, length, silent := 1+r.IntN(7), 1+r.IntN(4), 10+r.IntN(200), 3+r.IntN(30)
	if one(3) { // crowded
		clients, length = 6+r.IntN(6), 200+r.IntN(500)
	}
	keys := []string{"", ""}
	if one(6) {
		keys[1] = "x"
	}
	free := make([]int, clients) // when each client is
	all := make([]handled, 5+r.IntN(40))
	for i := range all {
		c := 0
		for k := range free {
			if free[k] < free[c] {
				c = k
			}
		}
		u := handled{who: "c" + strconv.Itoa(c+1), key: keys[r.IntN(2)], call: free[c] + r.IntN(30)}
		u.ret = u.call + r.IntN(length)
		u.point = u.call + r.IntN(u.ret-u.call+1)
		u.tells = one(2)
		free[c] = u.ret + 1
		u.value, u.old = strconv.Itoa(1+r.IntN(values)), strconv.Itoa(1+r.IntN(values))
		if distinct {
			u.value = strconv.Itoa(i + 1)
		}
		switch k := r.IntN(10); {
		case locks:
			u.did = []string{"acquire", "release"}[k%2]
		case k < 4:
			u.did = "get"
		case k < 6 && compared:
			if u.did = "cas"; one(4) {
				u.old = u.value
			}
		default:
			u.did = "put"
		}
		if one(silent) { // its client is never heard of again
			u.outcome, u.who = []string{"unknown", "unended"}[r.IntN(2)], "client"
			if one(2) {
				u.point += r.IntN(500)
			}
		}
		all[i] = u
	}
	slices.SortStableFunc(all, func(a, b handled) int { return cmp.Compare(a.point, b.point) })
	type state struct {
		value    string
		revision int
	}
	held := map[string]state{}
	for i := range all {
		u := &all[i]
		s, happens := held[u.key], true
		switch u.did {
		case "get":
			u.value = s.value
		case "cas":
			happens = s.value == u.old
			if !happens && one(3) && s.value != "" {
				u.old, happens = s.value, true
			}
		case "acquire":
			happens, u.value = s.value == "", "taken"
		case "release":
			happens, u.value = s.value != "", ""
		}
		if happens && u.did != "get" {
			s = state{u.value, s.revision + 1 + r.IntN(2)}
			held[u.key] = s
		}
		u.revision = s.revision
		if !happens && u.outcome == "" {
			u.outcome = "failed"
		}
	}
	for range r.IntN(6) { // lies
		u := &all[r.IntN(len(all))]
		switch {
		case u.outcome == "failed" && one(2):
			u.outcome = ""
		case u.did == "get" && one(6):
			u.value = "99"
		case u.did == "get":
			u.value = all[r.IntN(len(all))].value
		case one(3):
			u.revision = r.IntN(9)
		default:
			u.ret = u.call + (u.ret-u.call)/2
		}
	}
	slices.SortStableFunc(all, func(a, b handled) int { return cmp.Compare(a.call, b.call) })
	b := new(strings.Builder)
	b.WriteString("nodes n1\n")
	for _, u := range all {
		fmt.Fprintf(b, "%dms-%dms %s %s", u.call, u.ret, u.who, u.did)
		switch u.did {
		case "get", "put":
			b.WriteString(" " + u.value)
		case "cas":
			b.WriteString(" " + u.old + " " + u.value)
		}
		if u.tells && revisions && !locks && u.outcome == "" && u.revision > 0 {
			fmt.Fprintf(b, " revision %d", u.revision)
		}
		if u.key != "" {
			b.WriteString(" key " + u.key)
		}
		b.WriteString(" " + u.outcome + "\n")
	}
	b.WriteString("9m end\n")
	return b.String()
}
