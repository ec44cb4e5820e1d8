package report

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness/record"
)

func broken() *record.Run {
	r := &record.Run{
		Title: "ping|pong", Target: "raft", Cluster: "sim", Repeat: "recount run ping-pong",
		Verdicts: []record.Verdict{
			{Result: checkers.Result{Property: "elects", Verdict: checkers.Valid, Why: "fine"}},
			{Result: checkers.Result{Property: "no-ping-pong", Verdict: checkers.Invalid, Why: "bounced, 50 % of the time:\n*often*"}, Promised: true},
			{Result: checkers.Result{Property: "sticky-leader", Verdict: checkers.Invalid, Why: "weak"}},
			{Result: checkers.Result{Property: "fencing", Verdict: checkers.Unknown, Why: "too little"}, Promised: true},
			{Result: checkers.Result{Property: "vote-once", Verdict: checkers.Unknown, Why: "no votes", Untested: true}, Promised: true},
		},
	}
	r.Stand()
	return r
}

// cutShort is a run that decides nothing, and of whose verdicts none says so.
func cutShort() *record.Run {
	return &record.Run{Title: "cut", Target: "raft", Standing: record.Standing{Status: record.StatusUnknown, Flaw: record.CutShort}, Verdicts: []record.Verdict{
		{Result: checkers.Result{Property: "elects", Verdict: checkers.Valid, Why: "fine"}, Promised: true},
		{Result: checkers.Result{Property: "sticky-leader", Verdict: checkers.Invalid, Why: "weak"}},
		{Result: checkers.Result{Property: "vote-once", Verdict: checkers.Unknown, Why: "no votes", Untested: true}, Promised: true},
	}}
}

func TestMarkdown(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Markdown(&b, broken()))
	require.Contains(t, b.String(), "## Recount: ping\\|pong · raft\n")
	require.Contains(t, b.String(), "**Status 1.** A promise broke: no-ping-pong.")
	require.Contains(t, b.String(), "| ✕ | no-ping-pong | invalid | promise broken | bounced, 50 % of the time: \\*often\\* |\n")
	require.Contains(t, b.String(), "```\nrecount run ping-pong\n```")
}

func TestAnnotations(t *testing.T) {
	var lines []string
	for _, a := range Annotations(broken()) {
		lines = append(lines, a.String())
	}
	require.Equal(t, []string{
		"::error title=no-ping-pong of raft is invalid::promise broken: bounced, 50 %25 of the time:%0A*often*%0Areproduce with: recount run ping-pong",
		"::notice title=sticky-leader of raft is invalid::known weakness: weak%0Areproduce with: recount run ping-pong",
		"::warning title=fencing of raft is unknown::promised: too little%0Areproduce with: recount run ping-pong",
	}, lines)
	require.Equal(t, "::error title=a%3A b%2C c::d: e, f", Annotation{LevelError, "a: b, c", "d: e, f"}.String())
	r := &record.Run{Title: "calm", Target: "raft"}
	r.Stand()
	require.Equal(t, "calm · raft decided nothing", Annotations(r)[0].Title)
	require.Equal(t, "cut · raft decided nothing", Annotations(cutShort())[1].Title, "also where there is a weakness to tell of")
}
