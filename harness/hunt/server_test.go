package hunt

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/internal/testlong"
)

// server is a hunt of testdata/server, a server that knows nothing of Recount, with one of its bugs; "none" is as it should be.
func server(file, bug string, seed uint64) Config {
	target := "testdata/server/" + file
	return Config{
		Target: target, On: record.OnVirtual, Options: map[string][]string{"bug": {bug}}, Seed: seed,
		Faults: Faults(target, record.OnVirtual),
	}
}

// A vote that is forgotten takes a node that both halves of the cluster ask, and that ends between the two.
func TestAVoteThatAServerForgets(t *testing.T) {
	cfg := server("simple.yaml", "vote-lost", 1)
	cfg.Runs = 60
	r := hunted(t, cfg)
	require.Len(t, r.Findings, 1)
	require.Equal(t, "single-leader-per-term", r.Findings[0].Property)
}

// What is kept after it was answered takes a node that ends in the middle of an answer.
func TestAnAnswerBeforeItIsKept(t *testing.T) {
	cfg := server("simple.yaml", "answer-first", 1)
	cfg.Runs = 60
	r := hunted(t, cfg)
	require.Len(t, r.Findings, 1)
	require.Contains(t, []string{"single-leader-per-term", "monotonic-term"}, r.Findings[0].Property, "the vote or the term is forgotten")
	again := hunted(t, cfg)
	require.Equal(t, r.Findings[0].Run, again.Findings[0].Run)
	require.Equal(t, r.Findings[0].Plan, again.Findings[0].Plan)
}

func TestBugsOfAServer(t *testing.T) {
	testlong.Only(t)
	for file, bugs := range map[string][]string{
		"simple.yaml": {"vote-lost", "late-vote", "race", "twice", "answer-first"},
		"lease.yaml":  {"lease-receipt", "leads-on"},
	} {
		for _, bug := range bugs {
			cfg := server(file, bug, 1)
			cfg.Runs = 200
			r := hunted(t, cfg)
			require.NotEmpty(t, r.Findings, bug)
			t.Logf("%s: %s in run %d", bug, r.Findings[0].Property, r.Findings[0].Run)
		}
		cfg := server(file, "none", 1)
		cfg.Runs = 200
		require.Empty(t, hunted(t, cfg).Findings)
	}
}
