package checkers

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recount/history"
)

// What is decided by pruning, cutting and partitioning must be what porcupine decides on all operations together. make
// prove tries 100,000 histories of each kind.
const plainChecks = 2000

func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given {
		if err := flag.Set("rapid.checks", fmt.Sprint(plainChecks)); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// leaders is the specification without partitions: who leads each of the first few terms.
type leaders [5]string

var plainClaimModel = porcupine.Model{
	Init: func() any { return leaders{} },
	Step: func(state, input, _ any) (bool, any) {
		s, c := state.(leaders), input.(claim)
		ok := s[c.term] == "" || s[c.term] == c.node
		s[c.term] = c.node
		return ok, s
	},
}

func TestPlainSingleLeader(t *testing.T) {
	t.Parallel()
	tried, illegal := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		nodes := []string{"n1", "n2", "n3"}
		setup := &history.Setup{Nodes: nodes}
		ops := []history.Op{{Process: history.Harness, Type: history.OK, F: history.Begin, Setup: setup}}
		var plain []porcupine.Operation
		n := rapid.IntRange(4, 10).Draw(t, "answers")
		for i := range n {
			call := time.Duration(rapid.IntRange(0, 12).Draw(t, "call"))
			ret := call + time.Duration(rapid.IntRange(0, 4).Draw(t, "length"))
			node := rapid.SampledFrom(nodes).Draw(t, "node")
			op := history.Op{Time: ret, Process: history.Process(i), F: history.Observe, Node: node}
			if op.Type = history.OK; rapid.IntRange(0, 4).Draw(t, "no answer") == 1 {
				op.Type = history.Info
			}
			announced := rapid.IntRange(0, 4).Draw(t, "announced") == 0
			if announced {
				op.F, op.Type, call = history.Announce, history.OK, ret
			}
			if op.Type == history.OK {
				op.View = history.View{
					Role: history.Leader,
					Term: uint64(rapid.IntRange(1, 4).Draw(t, "term")),
					Torn: rapid.IntRange(0, 9).Draw(t, "torn") == 0,
				}
				if rapid.IntRange(0, 3).Draw(t, "role") == 1 {
					op.View.Role = history.Follower
				}
				if op.View.Claims() {
					c := claim{node, op.View.Term}
					plain = append(plain, porcupine.Operation{Input: c, Call: int64(call), Return: int64(ret)})
				}
			}
			if !announced {
				ops = append(ops, history.Op{Time: call, Process: op.Process, Type: history.Invoke, F: op.F, Node: node})
			}
			ops = append(ops, op)
		}
		slices.SortStableFunc(ops, func(a, b history.Op) int {
			return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Process, b.Process), cmp.Compare(a.Type, b.Type))
		})
		for i := range ops {
			ops[i].Index = i
		}
		h, err := history.New(ops)
		if err != nil {
			t.Fatal(err)
		}
		r := find("single-leader-per-term").Check(context.Background(), h)
		legal := porcupine.CheckOperations(plainClaimModel, plain)
		if tried++; !legal {
			illegal++
		}
		slices.SortStableFunc(plain, func(a, b porcupine.Operation) int {
			return cmp.Compare(a.Input.(claim).term, b.Input.(claim).term)
		})
		if porcupine.CheckOperations(claimModel, plain) != legal {
			t.Fatalf("porcupine says legal: %v, but not term by term", legal)
		}
		if legal == (r.Verdict == Invalid) {
			t.Fatalf("porcupine says legal: %v; the checker says %v: %s", legal, r.Verdict, r.Why)
		}
		if r.Verdict == Invalid {
			var core []porcupine.Operation
			for _, i := range r.Ops {
				core = append(core, porcupine.Operation{Input: claim{ops[i].Node, ops[i].View.Term}})
			}
			if len(core) != 2 || porcupine.CheckOperations(plainClaimModel, core) {
				t.Fatalf("ops %v show nothing", r.Ops)
			}
		}
	})
	requireIllegal(t, tried, illegal)
}

func TestPlainExclusiveLeadership(t *testing.T) {
	t.Parallel()
	tried, illegal := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		f := &facts{nodes: []string{"n1", "n2", "n3", "n4", "n5"}}
		now := time.Duration(0)
		draw := func(most int, label string) time.Duration {
			return time.Duration(rapid.IntRange(0, most).Draw(t, label))
		}
		var holds []hold
		for node := range rapid.IntRange(2, 5).Draw(t, "leaderships") {
			now += draw(4, "since the last")
			k := int32(len(f.answers))
			taken := now + draw(3, "length of the first answer")
			given := max(now, taken-2) + draw(5, "from the first to the last")
			ended := max(taken, given) + draw(3, "length of the last answer")
			l := leadership{node: node, since: now, first: k, last: k, lost: -1}
			f.answers = append(f.answers, answer{from: now, to: taken, lead: int32(len(f.leads))})
			if rapid.Bool().Draw(t, "denied") {
				l.lost = k + 1
				f.answers = append(f.answers, answer{from: given, to: ended})
			}
			f.leads = append(f.leads, l)
			holds = append(holds, hold{taken, given, node, k, k})
		}
		var ops []porcupine.Operation
		for i := range holds {
			ops = append(ops, f.turns(&holds[i], i+1)...)
		}
		legal := porcupine.CheckOperations(lockModel, ops)
		a, b := clash(holds, nil)
		if tried++; !legal {
			illegal++
		}
		if legal != (a == nil) {
			t.Fatalf("porcupine says legal: %v; what clashes is %v and %v", legal, a, b)
		}
		if a != nil && porcupine.CheckOperations(lockModel, slices.Concat(f.turns(a, 1), f.turns(b, 2))) {
			t.Fatalf("%v and %v do not clash", a, b)
		}
	})
	requireIllegal(t, tried, illegal)
}

// requireIllegal makes sure that histories of both kinds were tried.
func requireIllegal(t *testing.T, tried, illegal int) {
	t.Helper()
	t.Logf("%d histories, %d of them illegal", tried, illegal)
	if tried >= plainChecks { // of a few it may be more or less
		require.Greater(t, illegal, tried*2/5)
		require.Less(t, illegal, tried*4/5)
	}
}

// find returns a registered checker.
func find(property string) Checker {
	i := slices.IndexFunc(All(), func(c Checker) bool { return c.Property == property })
	return All()[i]
}
