package checkers

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/history"
)

var update = flag.Bool("update", false, "write the verdicts of the golden histories anew")

// separator stands in a golden file between a history and what is said of it.
const separator = "\n----\n"

// TestGolden judges each golden history by its folder's checker. testdata/README.md explains the notation.
func TestGolden(t *testing.T) {
	for _, c := range All() {
		for _, file := range files(t, c.Property) {
			t.Run(c.Property+"/"+strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
				golden(t, file, func(h *history.History) string { return factsText(h, c.Check(context.Background(), h)) })
			})
		}
	}
}

// TestCases judges histories by all checkers: such as one of them, or several, once judged wrongly.
func TestCases(t *testing.T) {
	for _, file := range files(t, "cases") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			golden(t, file, saidOfCase)
		})
	}
}

// saidOfCase is what all checkers say that were put to the test.
func saidOfCase(h *history.History) string {
	b := new(strings.Builder)
	for _, r := range CheckAll(context.Background(), h) {
		if !r.Untested {
			fmt.Fprintf(b, "%s: %s", r.Property, factsText(h, r))
		}
	}
	return b.String()
}

// TestSentences pins down in one file how verdicts are put into words.
func TestSentences(t *testing.T) {
	b := new(strings.Builder)
	for _, c := range All() {
		for _, file := range files(t, c.Property) {
			r := c.Check(context.Background(), given(t, file))
			fmt.Fprintf(b, "%s/%s\n    %s\n", c.Property, strings.TrimSuffix(filepath.Base(file), ".txt"), r.Why)
		}
	}
	file := filepath.Join("testdata", "sentences.txt")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
}

// files returns the golden files of a folder.
func files(t *testing.T, folder string) []string {
	all, err := filepath.Glob(filepath.Join("testdata", folder, "*.txt"))
	require.NoError(t, err)
	return all
}

// given returns the history of a golden file.
func given(t *testing.T, file string) *history.History {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	before, _, _ := strings.Cut(string(text), separator)
	h, err := parseHistory(before)
	require.NoError(t, err)
	return h
}

// golden compares what is said of a golden file's history with what stands there; with -update it writes it.
func golden(t *testing.T, file string, said func(h *history.History) string) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	before, want, _ := strings.Cut(string(text), separator)
	got := said(given(t, file))
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(strings.TrimRight(before, "\n")+separator+got), 0o644))
		return
	}
	require.Equal(t, want, got)
}

// factsText is what a golden history pins down of its result: all but the sentence.
func factsText(h *history.History, r Result) string {
	b := new(strings.Builder)
	fmt.Fprint(b, r.Verdict)
	if r.Untested {
		b.WriteString(" (untested)")
	}
	b.WriteString("\n")
	if r.Verdict == Invalid {
		fmt.Fprintf(b, "from %v to %v\n", r.From, r.To)
	}
	for _, i := range r.Ops {
		fmt.Fprintln(b, tell(&h.Ops[i]))
	}
	for _, f := range r.Figures {
		fmt.Fprintf(b, "%s: %s\n", f.Name, f.Value)
	}
	return b.String()
}

// TestNumbersOfOpsDecideNothing numbers the ops of all histories the other way round: a file may have them in any order.
func TestNumbersOfOpsDecideNothing(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		h := given(t, file)
		was := CheckAll(t.Context(), h)
		for i := range h.Ops {
			h.Ops[i].Index = len(h.Ops) - i
		}
		for i, is := range CheckAll(t.Context(), h) {
			require.Equal(t, was[i].Verdict, is.Verdict, "%s: %s: %s", file, is.Property, is.Why)
			require.Equal(t, was[i].Why, is.Why, "%s: %s", file, is.Property)
		}
	}
}
