package linear

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
	_ "recount/internal/testseed" // the same cases each time
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

// plainly draws histories, and compares what decides on them with plain porcupine on all operations together.
func plainly(t *testing.T, Draw func(*rapid.T) []Access, legal func(*rapid.T, []Access) bool) {
	tried, illegal := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		all := Draw(t)
		plain := porcupine.CheckOperations(FenceModel, Operations(all))
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
	t.Parallel()
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
			plainly(t, d.draw, func(t *rapid.T, all []Access) bool {
				if len(newLevels(prune(slices.Clone(all))).vague) == 0 {
					sure++
				}
				d := DecideFence(context.Background(), all)
				if d.Answer == porcupine.Unknown {
					t.Fatal(d.Why)
				}
				return d.Answer == porcupine.Ok
			})
			if d.values == 0 {
				require.Positive(t, sure)
			}
		})
	}
}

// TestPlainPruning applies each rule alone.
func TestPlainPruning(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]func([]Access) []Access{
		"settle read":    func(all []Access) []Access { settleRead(all); return all },
		"drop explained": dropExplained,
		"drop unused":    dropUnused,
		"prune":          prune,
	} {
		t.Run(name, func(t *testing.T) {
			changed, tried := 0, 0
			plainly(t, drawing{tokens: 3, values: 9, most: 10, doubt: true, lies: 5}.draw, func(_ *rapid.T, all []Access) bool {
				kept := rule(slices.Clone(all))
				if tried++; !slices.Equal(kept, all) {
					changed++
				}
				return len(kept) == 0 || porcupine.CheckOperations(FenceModel, Operations(kept))
			})
			require.Greater(t, changed, tried/50, "histories that the rule changes")
		})
	}
}

// TestPlainPieces cuts where the order is certain.
func TestPlainPieces(t *testing.T) {
	t.Parallel()
	cut, tried := 0, 0
	plainly(t, drawing{tokens: 3, values: 9, most: 10}.draw, func(t *rapid.T, all []Access) bool {
		parts := pieces(prune(all), rapid.SampledFrom([]int{1, 1, 2, pieceSize}).Draw(t, "piece size"))
		if tried++; len(parts) > 1 {
			cut++
		}
		return !slices.ContainsFunc(parts, func(p []Access) bool {
			return !porcupine.CheckOperations(FenceModel, Operations(p))
		})
	})
	require.Greater(t, cut, tried/20, "histories in several pieces")
}

// TestPlainShrink takes away what leaves the legal legal, until nothing can be spared.
func TestPlainShrink(t *testing.T) {
	t.Parallel()
	plainly(t, drawing{tokens: 3, values: 9, most: 10}.draw, func(t *rapid.T, all []Access) bool {
		from := rapid.IntRange(0, len(all)-1).Draw(t, "from")
		to := rapid.IntRange(from, len(all)).Draw(t, "to")
		less := without(all, from, to)
		legal := DecideFence(context.Background(), all).Answer == porcupine.Ok
		if legal && !porcupine.CheckOperations(FenceModel, Operations(less)) {
			t.Fatalf("legal, but not without %d to %d: %v", from, to, less)
		}
		if legal {
			return true
		}
		core := ShrinkFence(context.Background(), all)
		for i := range core {
			if less := without(core, i, i+1); len(less) > 0 && !porcupine.CheckOperations(FenceModel, Operations(less)) {
				t.Fatalf("%v can do without %v", core, &core[i])
			}
		}
		requireLastOrder(t, core, all)
		return porcupine.CheckOperations(FenceModel, Operations(core))
	})
}

// requireLastOrder has an order up to the return at which the last one died, and none from there on; and what was held is what
// the resource could hold then.
func requireLastOrder(t *rapid.T, core, all []Access) {
	died := LastOrder(context.Background(), core)
	require.NotNil(t, died, "%v", core)
	by := func(of []Access, over func(a *Access) bool) (part []Access) {
		for _, a := range of {
			switch {
			case a.Call > died.Return || over(&a) && (a.Kind == Read || a.Kind == Rejected):
				continue
			case over(&a):
				a.Kind, a.Return = Maybe, Never
			}
			part = append(part, a)
		}
		return part
	}
	require.False(t, porcupine.CheckOperations(FenceModel, Operations(by(core, func(a *Access) bool { return a.Return > died.Return }))), "%v", core)
	before := by(core, func(a *Access) bool { return a.Return >= died.Return })
	require.True(t, porcupine.CheckOperations(FenceModel, Operations(before)), "%v died at %v", core, died)
	held := HeldAt(context.Background(), all, died)
	if held == nil { // the last order of all died before
		return
	}
	before = by(all, func(a *Access) bool { return a.Return >= died.Return })
	alone := !slices.ContainsFunc(all, func(a Access) bool { return a.Return == died.Return && a.At != died.At })
	for _, a := range append(slices.Clone(all), Access{}) {
		seen := Access{Call: died.Return, Return: died.Return, Access: a.Access, Kind: Read}
		can := porcupine.CheckOperations(FenceModel, Operations(append(slices.Clone(before), seen)))
		if told := slices.Contains(held, a.Access); told || alone { // of those that return at once the search takes the earlier called first
			require.Equal(t, can, told, "%v of %v of %v", a.Access, held, all)
		}
	}
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
	rising   bool // tokens rise, mostly
}

// draw draws what happened to a resource, most often with one thing or two that cannot have.
func (d drawing) draw(t *rapid.T) []Access {
	var state history.Access
	var all []Access
	now := 0
	token := func() uint64 {
		if d.noTokens {
			return 0
		}
		if d.rising && rapid.IntRange(0, 9).Draw(t, "stale") > 0 {
			return min(d.tokens, uint64(now/8))
		}
		return uint64(rapid.IntRange(0, int(max(d.tokens, 1))).Draw(t, "token"))
	}
	for i := range rapid.IntRange(3, d.most).Draw(t, "accesses") {
		now += 4 - rapid.IntRange(0, 4).Draw(t, "haste")
		a := Access{
			Call:   time.Duration(max(0, now-rapid.IntRange(0, 2).Draw(t, "before"))),
			Return: time.Duration(now + rapid.IntRange(0, 2).Draw(t, "after")),
			At:     int32(i),
		}
		a.Token, a.Value = token(), int64(i+1)
		if d.values > 0 {
			a.Value = int64(rapid.IntRange(0, int(d.values)).Draw(t, "value"))
		}
		happens := true
		kind := rapid.IntRange(0, 5).Draw(t, "kind")
		switch {
		case kind == 1 || kind == 2:
			a.Kind, a.Access = Read, state
		case kind == 3 || kind == 4 && d.doubt:
			a.Kind, a.Return = Maybe, Never
			happens = rapid.Bool().Draw(t, "happens")
		}
		if a.Kind != Read && happens {
			if a.Token >= state.Token {
				state = a.Access
			} else if a.Kind == Accepted {
				a.Kind = Rejected
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
			if a.Value = int64(rapid.IntRange(0, 9).Draw(t, "value")); d.values == 0 && a.Kind != Read {
				a.Value += 100 * int64(a.At+1)
			}
		case 0:
			if a.Kind == Accepted || a.Kind == Rejected {
				a.Kind = Accepted + Rejected - a.Kind
			}
		case 3:
			if a.Kind != Maybe {
				a.Return = max(a.Call, a.Return-3)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Access) int { return cmp.Compare(a.Call, b.Call) })
	return all
}
