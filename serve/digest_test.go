package serve

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
	"recount/report"
)

// phase is in which one a fault came, by a look at all claims and all faults.
func (d *digest) phase(fault int, claims []report.Claim) string {
	at := d.faults[fault].From
	since, healed, under := time.Duration(-1), time.Duration(-1), false
	for _, c := range claims {
		if c.From < at && c.To >= at && (since < 0 || at-c.From < since) {
			since = at - c.From
		}
	}
	for _, f := range d.faults {
		if f.From < at && f.took != history.Fail {
			under, healed = under || f.To > at, max(healed, f.To)
		}
	}
	switch {
	case under:
		return "under another fault"
	case since < 0:
		return "electing"
	case healed >= 0 && at-healed <= d.elect:
		return "just healed"
	case since <= d.silence:
		return "just elected"
	}
	return "settled"
}

func TestPhasesOfFaults(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	span := func(most int64) report.Span {
		from := time.Duration(random.Int64N(60))
		return report.Span{From: from, To: from + time.Duration(random.Int64N(most))}
	}
	seen := map[string]int{}
	for range 2000 {
		d := &digest{silence: 3, elect: 5}
		var claims []report.Claim
		for range random.IntN(8) {
			claims = append(claims, report.Claim{Span: span(30)})
		}
		for range random.IntN(6) {
			d.faults = append(d.faults, brokenBy{Span: span(12), took: []history.Type{history.OK, history.Fail, history.Info}[random.IntN(3)]})
		}
		slices.SortStableFunc(claims, func(a, b report.Claim) int { return cmp.Compare(a.From, b.From) })
		slices.SortStableFunc(d.faults, func(a, b brokenBy) int { return cmp.Compare(a.From, b.From) })
		d.date(claims)
		for i, f := range d.faults {
			require.Equal(t, d.phase(i, claims), f.phase, "%+v %+v", claims, d.faults)
			seen[f.phase]++
		}
	}
	for _, p := range phases {
		require.NotZero(t, seen[p], p)
	}
}

// A fault of any dimension hits the nodes that it is of.
func TestWhomAFaultTouches(t *testing.T) {
	for _, s := range []history.State{
		history.Proc{Node: "n1"}, history.Clock{Node: "n1"}, history.Disk{Node: "n1"}, history.CPU{Node: "n1"}, history.Memory{Node: "n1"},
		history.Part{Node: "n1", Process: "agent"}, history.Member{Node: "n1"}, history.HandOver{Node: "n1"}, history.Trap{Node: "n1"},
	} {
		c := history.ChangesOf(s, history.Link{From: "n3", To: "n2"}, history.Link{From: "n2", To: "n3"})
		require.Equal(t, []string{"n1", "n2", "n3"}, touched(&c), s.Key().Dimension)
	}
}
