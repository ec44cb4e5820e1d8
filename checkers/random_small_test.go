package checkers

import (
	"context"
	"fmt"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recount/history"
)

// smallHistories are as many as testdata/random_small.txt has lines.
const smallHistories = 2000

// drawnSmall are what the oracles judge: small histories in which much falls on one instant.
var drawnSmall = []*rapid.Generator[string]{
	rapid.Custom(anyElection),
	rapid.Custom(func(t *rapid.T) string { return anyRun(t, false) }),
	rapid.Custom(func(t *rapid.T) string { return anyRun(t, true) }),
	rapid.Custom(anyReign),
	rapid.Custom(anyVotes),
	rapid.Custom(anyWrites),
	rapid.Custom(anyUpdates),
	rapid.Custom(anyUse),
}

// smallHistory draws one of them.
func smallHistory(seed uint64) string {
	kinds := uint64(len(drawnSmall))
	return drawnSmall[seed%kinds].Example(int(seed / kinds))
}

// TestGoldenRandomSmall pins down what all checkers say of small histories. Oracles know whether the verdicts are right; this one
// notices whatever else is said: evidence, figures, words. Look into a line with -run GoldenRandomSmall -random SEED.
func TestGoldenRandomSmall(t *testing.T) {
	if *randomSeed > 0 {
		logSaid(t, smallHistory(*randomSeed))
		return
	}
	text := goldenLines(t, "testdata/random_small.txt", smallHistories, func(seed uint64) string {
		h, err := parseHistory(smallHistory(seed))
		require.NoError(t, err, "seed %d", seed)
		return saidOfSmall(h)
	})
	require.NotContains(t, text, "crashed")
}

// saidOfSmall are the first letters of what all checkers say, and checksums of all that they do.
func saidOfSmall(h *history.History) string {
	results := CheckAll(context.Background(), h)
	words := crc32.NewIEEE()
	for _, r := range results {
		fmt.Fprintln(words, r.Why)
	}
	return fmt.Sprintf("%s %08x", letters(h, results), words.Sum32())
}
