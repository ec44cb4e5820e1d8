package checkers

import (
	"cmp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recount/history"
)

// TestLostSight compares how long a node was seen, since an instant, with what is found by looking at all of its answers.
func TestLostSight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sure := rapid.Bool().Draw(t, "sure")
		f := &facts{setup: history.Setup{Bounds: history.Bounds{
			Silence: time.Duration(rapid.IntRange(0, 4).Draw(t, "silence")), Poll: time.Duration(rapid.IntRange(0, 2).Draw(t, "poll")),
		}}}
		sight := f.lull()
		if sure {
			sight = cmp.Or(f.setup.Bounds.Silence, sight)
		}
		now := time.Duration(0)
		for range rapid.IntRange(1, 12).Draw(t, "answers") {
			now += time.Duration(rapid.IntRange(0, 6).Draw(t, "later"))
			f.answers = append(f.answers, answer{
				to: now, from: now - min(now, time.Duration(rapid.IntRange(0, 6).Draw(t, "takes"))), node: int16(rapid.IntRange(0, 3).Draw(t, "node") / 3),
				polled: true, ended: rapid.IntRange(0, 9).Draw(t, "ended") == 0, torn: rapid.IntRange(0, 4).Draw(t, "torn") == 0,
				repeats: rapid.IntRange(0, 4).Draw(t, "repeats") == 0, dull: rapid.IntRange(0, 9).Draw(t, "dull") == 0,
			})
		}
		f.answers[0].node = 0
		for range rapid.IntRange(0, 2).Draw(t, "resigns") {
			from := time.Duration(rapid.IntRange(0, int(now)).Draw(t, "asked"))
			f.resigned = append(f.resigned, resignation{
				span: span{from, from + time.Duration(rapid.IntRange(0, 6).Draw(t, "until"))}, node: rapid.IntRange(0, 3).Draw(t, "of") / 3,
			})
		}
		seen := f.lostSight([]int32{0}, sure)
		for since := range now + 2 {
			by, last := never, time.Duration(-1)
			for _, r := range f.resigned {
				if sure && r.node == 0 && r.to >= since {
					by = min(by, r.from)
				}
			}
			for _, a := range f.answers {
				if a.node != 0 || a.ended || a.torn && a.repeats {
					continue
				}
				if a.torn {
					if a.to >= since {
						by = min(by, a.from)
					}
					continue
				}
				if last >= since && sight > 0 && !a.dull && a.from-last > sight {
					by = min(by, last+1)
				}
				last = a.to
			}
			require.Equal(t, by, seen(since), "%v of %+v", since, f.answers)
		}
	})
}
