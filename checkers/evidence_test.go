package checkers

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// value returns a figure's value, and false if the result has none of that name.
func value(r Result, name string) (string, bool) {
	i := slices.IndexFunc(r.Figures, func(f Figure) bool { return f.Name == name })
	if i < 0 {
		return "", false
	}
	return r.Figures[i].Value, true
}

// TestEvidenceOfEveryVerdict demands of every checker, on every golden history: of an invalid verdict the ops that show it,
// one sentence, a window in time that they lie in, and the faults then; of an unknown one what would settle it; of a valid
// one what there was to be seen.
func TestEvidenceOfEveryVerdict(t *testing.T) {
	seen := map[string]map[Verdict]bool{}
	for _, h := range goldens(t) {
		byIndex := map[int]*history.Op{}
		faults := 0
		for i := range h.Ops {
			byIndex[h.Ops[i].Index] = &h.Ops[i]
			if h.Ops[i].Process == history.Nemesis {
				faults++
			}
		}
		for _, r := range CheckAll(context.Background(), h) {
			if seen[r.Property] == nil {
				seen[r.Property] = map[Verdict]bool{}
			}
			seen[r.Property][r.Verdict] = true
			require.NotContains(t, r.Why, ". ", "one sentence: %s", r.Why)
			require.NotContains(t, r.Why, "\n")
			switch r.Verdict {
			case Invalid:
				require.NotEmpty(t, r.Ops)
				inside := 0
				for _, i := range r.Ops {
					require.Contains(t, byIndex, i, "%s: %s", r.Property, r.Why)
					if op := byIndex[i]; op.Time >= r.From && op.Time <= r.To {
						inside++
					}
				}
				standing := h.Setup() != nil && h.Setup().Standing // a line shows what comes long after it
				require.True(t, inside > 0 || standing, "%s: nothing that shows it is in its window: %s", r.Property, r.Why)
				require.LessOrEqual(t, r.From, r.To)
				then, told := value(r, FaultsThen)
				require.True(t, told, r.Property)
				if faults == 0 {
					require.Equal(t, "none", then)
				}
			case Unknown:
				_, settles, ok := strings.Cut(r.Why, ": ")
				require.True(t, ok && settles != "", "%s does not say what would settle it: %s", r.Property, r.Why)
			case Valid:
				for _, name := range []string{"leaderships seen", "faults that took effect", "longest gap between answers"} {
					_, told := value(r, name)
					require.True(t, told, "%s: %s", r.Property, name)
				}
			}
		}
	}
	for _, c := range All() {
		require.Len(t, seen[c.Property], 3, c.Property)
	}
}

// TestWhatTheFaultsWere looks at goldens of which that is known.
func TestWhatTheFaultsWere(t *testing.T) {
	for file, want := range map[string]string{
		"linearizable/invalid-stale-read":          "isolate of n1",
		"linearizable/invalid-lock-held-twice":     "pause of n1",
		"linearizable/invalid-lost-update":         "none",
		"ordered-updates/invalid-stale-leader":     "cut-link of n1",
		"vote-once/invalid-forgotten-in-a-restart": "kill of n3",
	} {
		h := given(t, filepath.Join("testdata", file+".txt"))
		property, _, _ := strings.Cut(file, "/")
		r := find(property).Check(context.Background(), h)
		got, _ := value(r, FaultsThen)
		require.Equal(t, want, got, file)
	}
}

// A run that was stored before figures had units is read as before, and a figure that is stored today keeps its number.
func TestFiguresAreStored(t *testing.T) {
	var old Figure
	require.NoError(t, json.Unmarshal([]byte(`{"name":"leaderships","value":"8"}`), &old))
	require.Equal(t, Figure{Name: "leaderships", Value: "8"}, old)
	for _, f := range []Figure{figure("leaderships", 8), figure("splits", 0), duration("led", 1500*time.Millisecond), text("gap", "not asked twice")} {
		b, err := json.Marshal(f)
		require.NoError(t, err)
		var again Figure
		require.NoError(t, json.Unmarshal(b, &again))
		require.Equal(t, f, again)
	}
	require.Equal(t, Figure{"led", "1.5 s", 1.5, Seconds}, duration("led", 1500*time.Millisecond))
}
