package linear

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recount/history"
)

// streamed decides on accesses as they come, and forgets what it can whenever so many are kept. It returns how many it forgot
// of those that were legal, too.
func streamed(ctx context.Context, all []Access, most int, told func(i int) time.Duration) (legality bool, forgotten int) {
	type event struct {
		at     time.Duration
		access int
		ends   bool
	}
	var events []event
	for i := range all {
		events = append(events, event{all[i].Call, i, false})
		if until := told(i); until < Never {
			events = append(events, event{until, i, true})
		}
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	var kept []int // in the order of their calls
	over := map[int]bool{}
	before := time.Duration(-1)
	for _, e := range events {
		later := e.at > before
		before = e.at
		if e.ends {
			over[e.access] = true
			continue
		}
		if later && len(kept) >= most {
			var ended, open []Access
			var which []int
			for _, i := range kept {
				a := all[i]
				if over[i] {
					ended, which = append(ended, a), append(which, i)
					continue
				}
				if a.Return = Never; a.Kind == Read {
					a.Token, a.Value = 99, 99 // nobody knows yet
				} else {
					a.Kind = Maybe
				}
				open = append(open, a)
			}
			gone, wrong := Past(ctx, ended, open)
			if wrong {
				return false, forgotten
			}
			for k, i := range which {
				if gone != nil && gone[k] {
					kept = slices.DeleteFunc(kept, func(j int) bool { return j == i })
					forgotten++
				}
			}
		}
		kept = append(kept, e.access)
	}
	var rest []Access
	for _, i := range kept {
		rest = append(rest, all[i])
	}
	return DecideFence(ctx, rest).Answer == legal, forgotten
}

// TestPlainPast decides as accesses come, and forgets what has no bearing any more.
func TestPlainPast(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]drawing{
		"repeating": {tokens: 3, values: 9, most: 11},
		"often":     {tokens: 2, values: 2, most: 9},
		"distinct":  {tokens: 4, most: 14},
		"one token": {most: 12},
		"many":      {tokens: 9, most: 16, doubt: true},
		"rising":    {tokens: 9, most: 16, lies: 6, rising: true},
		"doubtful":  {tokens: 5, values: 5, most: 14, lies: 9, rising: true, doubt: true},
	} {
		t.Run(name, func(t *testing.T) {
			forgot, tried := 0, 0
			plainly(t, d.draw, func(t *rapid.T, all []Access) bool {
				most := rapid.IntRange(1, 6).Draw(t, "kept")
				late := rapid.IntRange(0, 6).Draw(t, "unknown after")
				valid, forgotten := streamed(context.Background(), all, most, func(i int) time.Duration {
					if all[i].Kind == Maybe {
						return []time.Duration{all[i].Call + time.Duration(late), Never}[(i+late)%5/4]
					}
					return all[i].Return
				})
				if tried++; forgotten > 0 {
					forgot++
				}
				return valid
			})
			t.Logf("%d of %d forgot something", forgot, tried)
			require.Greater(t, forgot, tried/20, "histories of which something was forgotten")
		})
	}
}

// TestPastKeepsWhatOverwroteNothing has a read overlap the write that divides, and show what nobody need have written: without
// what was written before that write, it would have a place.
func TestPastKeepsWhatOverwroteNothing(t *testing.T) {
	write := func(at time.Duration, token uint64, value int64, k AccessKind) Access {
		return Access{Call: at, Return: at, Access: history.Access{Token: token, Value: value}, Kind: k}
	}
	all := []Access{
		write(4, 0, 0, Accepted), write(8, 0, 1, Accepted), write(12, 1, 0, Accepted),
		{Call: 12, Return: 14, Kind: Read},
		write(22, 0, 0, Maybe),
	}
	gone, _ := Past(context.Background(), all, nil)
	var left []Access
	for i := range all {
		if gone == nil || !gone[i] {
			left = append(left, all[i])
		}
	}
	require.Equal(t, illegal, DecideFence(context.Background(), left).Answer, "%v are left", left)
}

// TestPastStaysSmall has clients use a resource for long, of whom some are always at it: what is kept of that is little.
func TestPastStaysSmall(t *testing.T) {
	for name, all := range map[string][]Access{
		"values repeat":          repeating(20_000, 5, 0),
		"of two clients":         repeating(20_000, 2, 0),
		"values differ":          busy(20_000, 5, 0.01, true),
		"values differ, for ten": busy(20_000, 10, 0.05, true),
	} {
		most := 0
		var kept []Access
		for i := range all {
			if i%500 > 0 {
				kept = append(kept, all[i])
				continue
			}
			var ended, open []Access
			for _, a := range kept {
				if a.Return < all[i].Call || a.Kind == Maybe {
					ended = append(ended, a)
					continue
				}
				if a.Return = Never; a.Kind != Read {
					a.Kind = Maybe
				}
				open = append(open, a)
			}
			gone, wrong := Past(context.Background(), ended, open)
			require.False(t, wrong, name)
			if most = max(most, len(kept)); gone != nil {
				at := map[int32]bool{}
				for k := range ended {
					if gone[k] {
						at[ended[k].At] = true
					}
				}
				kept = slices.DeleteFunc(kept, func(a Access) bool { return at[a.At] })
			}
			kept = append(kept, all[i])
		}
		t.Logf("%s: %d at most", name, most)
		require.Less(t, most, 5000, name)
	}
}
