package shrink

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness/record"
	"recount/history"
)

// tale makes a history by hand: each call is one op, ten milliseconds after the one before.
type tale struct {
	*testing.T
	ops []history.Op
}

func (s *tale) op(op history.Op) int {
	op.Index, op.Time = len(s.ops), time.Duration(len(s.ops)+1)*10*time.Millisecond
	if op.Type == 0 {
		op.Type = history.OK
	}
	s.ops = append(s.ops, op)
	return op.Index
}

func (s *tale) says(node string, role history.Role, term uint64) {
	s.op(history.Op{F: history.Announce, Node: node, View: history.View{Role: role, Term: term}})
}

func (s *tale) votes(node, candidate string, term uint64) int {
	return s.op(history.Op{F: history.Granted, Node: node, Vote: history.Vote{Term: term, For: candidate}})
}

func (s *tale) fault(f history.F, fault history.Fault) {
	op := history.Op{Process: history.Nemesis, F: f, Fault: &fault, Type: history.Invoke}
	s.op(op)
	op.Type = history.OK
	s.op(op)
}

func (s *tale) history() *history.History {
	h, err := history.New(s.ops)
	require.NoError(s, err)
	return h
}

func verdict(from, to time.Duration, ops ...int) *record.Verdict {
	return &record.Verdict{Result: checkers.Result{Verdict: checkers.Invalid, From: from, To: to, Ops: ops}}
}

func cut(from, to string) history.Link {
	return history.Link{From: from, To: to, LinkState: history.LinkState{Cut: true}}
}

func whole(from, to string) history.Link { return history.Link{From: from, To: to} }

func TestAStoryTellsWhoLedWhoCampaignedAndWhatWasDone(t *testing.T) {
	s := &tale{T: t}
	s.says("n1", history.Candidate, 1)
	s.votes("n2", "n1", 1)
	s.says("n1", history.Leader, 1)
	s.op(history.Op{Process: history.Harness, F: history.Settle})
	s.fault(history.Inject, history.Fault{
		ID: 1, Name: "isolate", Asked: []string{"follower"}, Nodes: []string{"n3"}, Changes: history.Changes{Links: []history.Link{cut("n3", "n1")}},
	})
	for term := range uint64(4) {
		s.says("n3", history.Candidate, 2+term)
	}
	s.fault(history.Heal, history.Fault{ID: 1, Name: "isolate", Nodes: []string{"n3"}, Changes: history.Changes{Links: []history.Link{whole("n3", "n1")}}})
	cited := s.votes("n2", "n3", 6)
	s.votes("n1", "n3", 6)
	s.says("n3", history.Candidate, 6)
	s.says("n1", history.Follower, 6)
	s.says("n3", history.Leader, 6)
	end := s.ops[len(s.ops)-1].Time
	s.says("n2", history.Leader, 7) // after the violation
	// The campaign that n1 won is told by its leadership.
	require.Equal(t, `    0.030s n1 leads in term 1
    0.040s the schedule begins
    0.060s isolate n3 (follower)
    0.070s n3 campaigns in terms 2 to 5
    0.120s isolate n3 heals
    0.130s n2 votes for n3 in term 6
    0.150s n3 campaigns in term 6
    0.160s n1 leads no more
    0.170s n3 leads in term 6
`, Story(s.history(), verdict(0, end, cited)))
}

func TestAStoryTellsOfVotesThatWereGivenTwice(t *testing.T) {
	s := &tale{T: t}
	s.votes("n2", "n1", 1)
	s.votes("n3", "n1", 1)
	s.fault(history.Inject, history.Fault{ID: 1, Name: "restart", Nodes: []string{"n2"}})
	s.votes("n2", "n3", 1)
	story := Story(s.history(), verdict(0, time.Minute))
	require.Contains(t, story, "n2 votes for n1 in term 1")
	require.Contains(t, story, "n2 votes for n3 in term 1")
	require.NotContains(t, story, "n3 votes for n1")
}

func TestALongStoryKeepsItsFaultsItsBeginningAndItsEnd(t *testing.T) {
	s := &tale{T: t}
	for term := range uint64(50) {
		s.says([]string{"n1", "n2"}[term%2], history.Leader, term+1)
		if term == 25 {
			s.fault(history.Inject, history.Fault{ID: 1, Name: "cut-link", Nodes: []string{"n1", "n2"}})
		}
	}
	lines := strings.Split(strings.TrimSpace(Story(s.history(), verdict(0, time.Minute))), "\n")
	require.Len(t, lines, maxLines+1+2) // with the fault, and a word on what was left out on either side of it
	require.Contains(t, lines[0], "n1 leads in term 1")
	require.Contains(t, lines[len(lines)-1], "n2 leads in term 50")
	require.Contains(t, strings.Join(lines, "\n"), "… 14 more such lines\n")
	require.Contains(t, strings.Join(lines, "\n"), "cut-link n1 n2")
}

func TestAStoryTellsWhomClientsHaveHandOver(t *testing.T) {
	s := &tale{T: t}
	asks := func(node string, end history.Type) {
		s.op(history.Op{Process: 3, F: history.Resign, Node: node, Type: history.Invoke})
		s.op(history.Op{Process: 3, F: history.Resign, Node: node, Type: end})
	}
	s.says("n2", history.Leader, 1)
	asks("n1", history.Fail)
	asks("n2", history.OK)
	s.says("n2", history.Follower, 2)
	over := history.Fault{ID: 1, Name: "hand-over", Nodes: []string{"n3"}, Changes: history.ChangesOf(history.HandOver{Node: "n3", ID: 1, Asked: true})}
	s.fault(history.Inject, over)
	asks("n3", history.OK)
	asks("n3", history.Info)
	require.Equal(t, `    0.010s n2 leads in term 1
    0.040s a client has n2 hand over
    0.060s n2 leads no more
    0.080s hand-over n3
    0.110s a client has n3 hand over
`, Story(s.history(), verdict(0, time.Minute)))
}

// Who has ended leads no more from then on, and not only when it is back.
func TestAStoryTakesNothingFromOneLifeToTheNext(t *testing.T) {
	s := &tale{T: t}
	s.says("n1", history.Leader, 1)
	s.fault(history.Inject, history.Fault{ID: 1, Name: "kill", Nodes: []string{"n1"}, Changes: history.Changes{Procs: []history.Proc{{Node: "n1", State: history.Down}}}})
	s.fault(history.Heal, history.Fault{ID: 1, Name: "kill", Nodes: []string{"n1"}, Changes: history.Changes{Procs: []history.Proc{{Node: "n1", State: history.Up}}}})
	s.says("n1", history.Follower, 1)
	require.NotContains(t, Story(s.history(), verdict(0, time.Minute)), "leads no more")
}

func TestAStorySaysWhatMoves(t *testing.T) {
	s := &tale{T: t}
	s.fault(history.Inject, history.Fault{ID: 1, Name: "swap-message", Nodes: []string{"n1", "n2"}})
	s.fault(history.Change, history.Fault{ID: 1, Name: "swap-message", Nodes: []string{"n1", "n2"}, After: "RequestVote n1→n2 in term 2 overtaken"})
	s.fault(history.Change, history.Fault{ID: 2, Name: "replace-member", Nodes: []string{"n3"}, Changes: history.ChangesOf(history.Member{Node: "n3", As: history.Learner})})
	story := Story(s.history(), verdict(0, time.Minute))
	require.Contains(t, story, "swap-message n1 n2 moves: RequestVote n1→n2 in term 2 overtaken\n")
	require.Contains(t, story, "replace-member n3 moves: "+history.Member{Node: "n3"}.Name()+": learner\n")
}

func TestAStoryFoldsWhatComesAgainAndAgain(t *testing.T) {
	s := &tale{T: t}
	s.says("n1", history.Leader, 1)
	for range 5 {
		s.fault(history.Inject, history.Fault{ID: 1, Name: "restart", Nodes: []string{"n3"}})
		s.fault(history.Heal, history.Fault{ID: 1, Name: "restart", Nodes: []string{"n3"}})
	}
	s.says("n2", history.Leader, 2)
	require.Equal(t, `    0.010s n1 leads in term 1
    0.030s restart n3
    0.050s restart n3 heals
    0.070s the same again, 4 times until 0.210s
    0.220s n2 leads in term 2
`, Story(s.history(), verdict(0, time.Minute)))
}

func TestCircumstances(t *testing.T) {
	links := func(l history.Link) history.Changes { return history.Changes{Links: []history.Link{l}} }
	s := &tale{T: t}
	s.fault(history.Inject, history.Fault{ID: 1, Name: "isolate", Changes: links(cut("n1", "n2"))})   // 10, 20 ms
	s.fault(history.Heal, history.Fault{ID: 1, Name: "isolate", Changes: links(whole("n1", "n2"))})   // 30, 40
	s.fault(history.Inject, history.Fault{ID: 2, Name: "flap-link", Changes: links(cut("n1", "n3"))}) // 50, 60
	s.fault(history.Change, history.Fault{ID: 2, Name: "flap-link", Changes: links(whole("n1", "n3"))})
	s.fault(history.Change, history.Fault{ID: 2, Name: "flap-link", Changes: links(cut("n1", "n3"))}) // 90, 100
	s.fault(history.Change, history.Fault{ID: 2, Name: "flap-link", Changes: links(whole("n1", "n3"))})
	var part history.Changes
	part.Add(history.Part{Node: "n1", Process: "agent", State: history.Paused})
	s.fault(history.Inject, history.Fault{ID: 3, Name: "pause", Changes: part}) // 130, 140
	h := s.history()
	at := func(from, to int) (string, bool) {
		under, ok := Circumstances(h.Frame(), verdict(time.Duration(from)*time.Millisecond, time.Duration(to)*time.Millisecond))
		return strings.Join(under, " "), ok
	}
	for _, c := range []struct {
		from, to int
		under    string
		whole    bool
	}{
		{5, 15, "", true},
		{22, 25, "isolate", false},
		{41, 45, "isolate", true},
		{15, 65, "flap-link isolate", false},
		{81, 85, "flap-link", false}, // it is up, but will be down again
		{121, 125, "flap-link", true},
		{141, 145, "flap-link pause", false}, // of one process
	} {
		under, ok := at(c.from, c.to)
		require.Equal(t, c.under, under, "%d to %d ms", c.from, c.to)
		require.Equal(t, c.whole, ok, "%d to %d ms", c.from, c.to)
	}
}

// How slow a link is belongs to what happens: a scenario that leaves it at the fault's default does not say it.
func TestAStoryTellsHowLinksAreThatAreNotCut(t *testing.T) {
	slow := history.LinkState{Delay: 100 * time.Millisecond}
	links := []history.Link{{From: "n1", To: "n2", LinkState: slow}, {From: "n2", To: "n1", LinkState: slow}}
	require.Equal(t, ": 100ms ± 0s late", badly(links))
	links[1].LinkState = history.LinkState{Cut: true}
	require.Empty(t, badly(links), "not all are")
	require.Empty(t, badly(links[1:]), "the fault's name says that")
	require.Empty(t, badly(nil))

	at := func(from, to string) history.Link { return history.Link{From: from, To: to, LinkState: slow} }
	require.Equal(t, ": 100ms ± 0s late, from n1 only", badly([]history.Link{at("n1", "n2"), at("n1", "n3")}))
	require.Equal(t, ": 100ms ± 0s late, to n1 only", badly([]history.Link{at("n2", "n1"), at("n3", "n1")}))
	require.Equal(t, ": 100ms ± 0s late, to n3, n4 only", badly([]history.Link{at("n1", "n3"), at("n1", "n4"), at("n2", "n3"), at("n2", "n4")}))
	require.Equal(t, ": 100ms ± 0s late", badly([]history.Link{at("n1", "n2"), at("n1", "n3"), at("n2", "n1"), at("n3", "n1")}))
	require.Equal(t, ": 100ms ± 0s late", badly([]history.Link{at("n1", "n2"), at("n2", "n3"), at("n2", "n1"), at("n3", "n2")}))
}
