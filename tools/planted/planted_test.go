package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/targets"
	_ "recount/targets/algorithms"
	_ "recount/targets/algorithms/etcdraft"
)

func TestEveryBugFitsTheTree(t *testing.T) {
	t.Chdir("../..")
	bugs, err := readBugs()
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(bugs), 40)
	held := 0
	of := map[string]int{}
	for _, b := range bugs {
		require.NotEmpty(t, b.patched, b.name)
		_, err := targets.Find(b.election)
		require.NoError(t, err, b.name)
		of[b.shape]++
		if b.held() {
			held++
		}
	}
	for _, shape := range shapes {
		require.GreaterOrEqual(t, of[shape], 5, shape)
	}
	require.InDelta(t, len(bugs)/2, held, 6)
}

func TestADiffIsAppliedByItsLines(t *testing.T) {
	text := "a\nb\nc\nd\ne\n"
	read := func(string) (string, error) { return text, nil }
	patched, err := patch("--- a/f\n+++ b/f\n@@ -7,2 +7,2 @@\n b\n-c\n+C\n@@ -9 +9 @@\n-e\n", read)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"f": "a\nb\nC\nd\n"}, patched)
	_, err = patch("--- a/f\n+++ b/f\n@@ @@\n-x\n", read)
	require.ErrorContains(t, err, "fits at 0 places")
	text += "c\n"
	_, err = patch("--- a/f\n+++ b/f\n@@ @@\n-c\n", read)
	require.ErrorContains(t, err, "fits at 2 places")
}

func TestWhatWasFoundOnceAndIsNotNow(t *testing.T) {
	of := func(name string, found bool) hunted {
		o := outcome{Run: 9}
		if found {
			o.Property = "elects"
		}
		return hunted{bug: &bug{name: name}, outcomes: []outcome{o}}
	}
	table := "# measured\nkept\tsmall-margin\topen\t7\t5\t5\ngone\tsmall-margin\topen\t7\t5\t5\nnever\tsmall-margin\topen\t-1\t0\t5\n"
	require.Equal(t, []string{"gone"}, lost([]hunted{of("kept", true), of("gone", false), of("never", false), of("new", false)}, table))
}
