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
const plainChecks = 5000

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
	tried, illegal := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		f := &facts{nodes: []string{"n1", "n2", "n3", "n4", "n5"}}
		now := time.Duration(0)
		draw := func(most int, label string) time.Duration {
			return time.Duration(rapid.IntRange(0, most).Draw(t, label))
		}
		for node := range rapid.IntRange(2, 5).Draw(t, "leaderships") {
			now += draw(4, "since the last")
			l := leadership{node: node, since: now, first: int32(len(f.answers)), lost: -1}
			taken := now + draw(3, "length of the first answer")
			given := max(now, taken-2) + draw(5, "from the first to the last")
			ended := max(taken, given) + draw(3, "length of the last answer")
			f.answers = append(f.answers, answer{from: now, to: taken}, answer{from: given, to: max(taken, given)})
			l.last = l.first + 1
			if rapid.Bool().Draw(t, "denied") {
				l.lost = l.last + 1
				f.answers = append(f.answers, answer{from: given, to: ended})
			}
			f.leads = append(f.leads, l)
		}
		var ops []porcupine.Operation
		holds := f.holds()
		for i := range holds {
			ops = append(ops, f.turns(&holds[i], i+1)...)
		}
		legal := porcupine.CheckOperations(lockModel, ops)
		a, b := clash(holds)
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

// plainly draws histories, and compares what decides on them with plain porcupine on all operations together.
func plainly(t *testing.T, draw func(*rapid.T) []access, legal func(*rapid.T, []access) bool) {
	tried, illegal := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		all := draw(t)
		plain := porcupine.CheckOperations(fenceModel, asOperations(all))
		if tried++; !plain {
			illegal++
		}
		if got := legal(t, slices.Clone(all)); got != plain {
			t.Fatalf("porcupine says legal: %v; here it is %v, of %+v", plain, got, all)
		}
	})
	requireIllegal(t, tried, illegal)
}

// TestPlainFencing decides by levels, zones, pieces and whatever is left to porcupine, on values that repeat and on such
// that do not, with tokens and without.
func TestPlainFencing(t *testing.T) {
	for name, d := range map[string]drawing{
		"repeating": {tokens: 3, values: 9, most: 10},
		"often":     {tokens: 2, values: 2, most: 8},
		"distinct":  {tokens: 4, most: 12},
		"one token": {most: 9},
		"many":      {tokens: 9, most: 16, doubt: true},
		"register":  {most: 14, noTokens: true, lies: 9},
		"registers": {values: 3, most: 9, noTokens: true, lies: 9, doubt: true},
	} {
		t.Run(name, func(t *testing.T) {
			sure := 0 // decided without porcupine
			plainly(t, d.draw, func(t *rapid.T, all []access) bool {
				if len(newLevels(prune(slices.Clone(all))).vague) == 0 {
					sure++
				}
				d := decideFence(context.Background(), all)
				if d.CheckResult == porcupine.Unknown {
					t.Fatal(d.why)
				}
				return d.CheckResult == porcupine.Ok
			})
			if d.values == 0 {
				require.Positive(t, sure)
			}
		})
	}
}

// TestPlainPruning applies each rule alone.
func TestPlainPruning(t *testing.T) {
	for name, rule := range map[string]func([]access) []access{
		"settle read":    func(all []access) []access { settleRead(all); return all },
		"drop explained": dropExplained,
		"drop unused":    dropUnused,
		"prune":          prune,
	} {
		t.Run(name, func(t *testing.T) {
			changed, tried := 0, 0
			plainly(t, drawing{tokens: 3, values: 9, most: 10, doubt: true, lies: 5}.draw, func(_ *rapid.T, all []access) bool {
				kept := rule(slices.Clone(all))
				if tried++; !slices.Equal(kept, all) {
					changed++
				}
				return len(kept) == 0 || porcupine.CheckOperations(fenceModel, asOperations(kept))
			})
			require.Greater(t, changed, tried/50, "histories that the rule changes")
		})
	}
}

// TestPlainPieces cuts where the order is certain.
func TestPlainPieces(t *testing.T) {
	cut, tried := 0, 0
	plainly(t, drawing{tokens: 3, values: 9, most: 10}.draw, func(t *rapid.T, all []access) bool {
		parts := pieces(prune(all), rapid.SampledFrom([]int{1, 1, 2, pieceSize}).Draw(t, "piece size"))
		if tried++; len(parts) > 1 {
			cut++
		}
		return !slices.ContainsFunc(parts, func(p []access) bool {
			return !porcupine.CheckOperations(fenceModel, asOperations(p))
		})
	})
	require.Greater(t, cut, tried/20, "histories in several pieces")
}

// TestPlainShrink takes away what leaves the legal legal, until nothing can be spared.
func TestPlainShrink(t *testing.T) {
	plainly(t, drawing{tokens: 3, values: 9, most: 10}.draw, func(t *rapid.T, all []access) bool {
		from := rapid.IntRange(0, len(all)-1).Draw(t, "from")
		to := rapid.IntRange(from, len(all)).Draw(t, "to")
		less := without(all, from, to)
		legal := decideFence(context.Background(), all).CheckResult == porcupine.Ok
		if legal && !porcupine.CheckOperations(fenceModel, asOperations(less)) {
			t.Fatalf("legal, but not without %d to %d: %v", from, to, less)
		}
		if legal {
			return true
		}
		core := shrink(context.Background(), all)
		for i := range core {
			if less := without(core, i, i+1); len(less) > 0 && !porcupine.CheckOperations(fenceModel, asOperations(less)) {
				t.Fatalf("%v can do without %v", core, &core[i])
			}
		}
		return porcupine.CheckOperations(fenceModel, asOperations(core))
	})
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

// drawing says what kind of accesses to draw.
type drawing struct {
	tokens   uint64 // the highest
	values   int64  // the highest; 0 for a new one with each write
	most     int    // accesses
	lies     int    // at most; 0 for 4
	doubt    bool   // more of unknown outcome
	noTokens bool
}

// draw draws what happened to a resource, most often with one thing or two that cannot have.
func (d drawing) draw(t *rapid.T) []access {
	var state history.Access
	var all []access
	now := 0
	token := func() uint64 {
		if d.noTokens {
			return 0
		}
		return uint64(rapid.IntRange(0, int(max(d.tokens, 1))).Draw(t, "token"))
	}
	for i := range rapid.IntRange(3, d.most).Draw(t, "accesses") {
		now += 4 - rapid.IntRange(0, 4).Draw(t, "haste")
		a := access{
			call: time.Duration(max(0, now-rapid.IntRange(0, 2).Draw(t, "before"))),
			ret:  time.Duration(now + rapid.IntRange(0, 2).Draw(t, "after")),
			op:   int32(i),
		}
		a.Token, a.Value = token(), int64(i+1)
		if d.values > 0 {
			a.Value = int64(rapid.IntRange(0, int(d.values)).Draw(t, "value"))
		}
		happens := true
		kind := rapid.IntRange(0, 5).Draw(t, "kind")
		switch {
		case kind == 1 || kind == 2:
			a.kind, a.Access = read, state
		case kind == 3 || kind == 4 && d.doubt:
			a.kind, a.ret = maybe, never
			happens = rapid.Bool().Draw(t, "happens")
		}
		if a.kind != read && happens {
			if a.Token >= state.Token {
				state = a.Access
			} else if a.kind == accepted {
				a.kind = rejected
			}
		}
		all = append(all, a)
	}
	most := cmp.Or(d.lies, 4)
	for range most - rapid.IntRange(0, most).Draw(t, "truths") {
		a := &all[rapid.IntRange(0, len(all)-1).Draw(t, "liar")]
		switch rapid.IntRange(0, 3).Draw(t, "lie") {
		case 1:
			a.Token = token()
		case 2:
			if a.Value = int64(rapid.IntRange(0, 9).Draw(t, "value")); d.values == 0 && a.kind != read {
				a.Value += 100 * int64(a.op+1)
			}
		case 0:
			if a.kind == accepted || a.kind == rejected {
				a.kind = accepted + rejected - a.kind
			}
		case 3:
			if a.kind != maybe {
				a.ret = max(a.call, a.ret-3)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b access) int { return cmp.Compare(a.call, b.call) })
	return all
}

// find returns a registered checker.
func find(property string) Checker {
	i := slices.IndexFunc(All(), func(c Checker) bool { return c.Property == property })
	return All()[i]
}
