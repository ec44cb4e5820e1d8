package looked_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness"
	"recount/harness/looked"
	"recount/harness/record"
	"recount/history"
	"recount/nemesis"
	_ "recount/targets/algorithms"
)

func TestCoverageTellsSituationsApart(t *testing.T) {
	reach := func(p record.Plan) map[looked.Feature]struct{} {
		p.Target, p.Time = "raft", 10*time.Second
		r, err := harness.Simulate(context.Background(), p)
		require.NoError(t, err)
		require.NotEqual(t, looked.Of(r, looked.NewSituation()).Reached, looked.Of(&record.Run{History: r.History}, nil).Reached)
		return looked.Of(&record.Run{History: r.History}, nil).Reached // what happened before what tells more: as if that were not known
	}
	calm := reach(record.Plan{Nodes: 3, Seed: 1})
	require.Equal(t, calm, reach(record.Plan{Nodes: 3, Seed: 1}))
	cut := reach(record.Plan{Nodes: 3, Seed: 1, Schedule: nemesis.Schedule{{At: time.Second, Fault: "cut-link"}}})
	killed := reach(record.Plan{Nodes: 3, Seed: 1, Schedule: nemesis.Schedule{{At: time.Second, Fault: "kill"}}})
	more := func(a, b map[looked.Feature]struct{}) (n int) {
		for f := range a {
			if _, known := b[f]; !known {
				n++
			}
		}
		return n
	}
	require.Positive(t, more(cut, calm))
	require.Positive(t, more(killed, calm))
	require.Positive(t, more(killed, cut))
	require.Positive(t, more(cut, killed))
}

// look is what a run looked at that reached some things.
func look(kinds []string, aimed []looked.Aimed, reached ...looked.Feature) looked.Look {
	l := looked.Look{Reached: map[looked.Feature]struct{}{}, Kinds: kinds, Aimed: aimed}
	for _, f := range reached {
		l.Reached[f] = struct{}{}
	}
	return l
}

func TestRunsAreCountedTogether(t *testing.T) {
	c := looked.NewCount()
	none := c.So()
	require.Empty(t, none.Rows())
	first := look([]string{"Vote", "Append"}, []looked.Aimed{{Fault: "hold-message", Why: "no leader"}, {Fault: "kill", At: "leader", Took: true}}, 1, 2)
	first.Named = []string{"Vote"}
	c.Add("raft", first)
	c.Add("raft", look([]string{"Append"}, []looked.Aimed{{Fault: "kill", Why: "no node"}, {Fault: "hold-message", Why: "another"}, {Fault: "pause", Why: "is down"}}, 2))
	l := c.So()
	require.Equal(t, 2, l.Runs)
	require.Equal(t, 2, l.Keys)
	require.Equal(t, 1, l.Chance.Hits, "the first run alone had one of them")
	require.Equal(t, []string{"hold-message", "pause"}, l.Idle)
	require.Equal(t, map[string]looked.Vain{"hold-message": {Times: 2, Why: "no leader"}, "pause": {Times: 1, Why: "is down"}}, l.Vain)
	require.Equal(t, []string{"Append"}, l.Unaimed)
	require.Equal(t, []looked.Row{
		{"new", "the chance that one more run reaches something new is " + l.Chance.String() + "; coverage 2 after 1, 2 after 2 runs"},
		{"idle", "never took effect: hold-message (tried 2 times, at first: no leader); pause (tried once: is down)"},
		{"unaimed", "messages that no fault was aimed at: Append"},
	}, l.Rows())
}

func TestLinesThatNeverCameAreNamed(t *testing.T) {
	run := func(times ...int) *record.Run {
		r := &record.Run{History: &history.History{}}
		for i, n := range times {
			r.Sometimes = append(r.Sometimes, record.Sometimes{Pattern: string(rune('a' + i)), Times: n})
		}
		return r
	}
	none, once, often := looked.Of(run(0, 0), nil), looked.Of(run(0, 1), nil), looked.Of(run(0, 9), nil)
	require.NotEqual(t, none.Reached, once.Reached)
	require.NotEqual(t, once.Reached, often.Reached, "how often is something to go by, too")
	c := looked.NewCount()
	c.Add("mine", none)
	l := c.So()
	require.Equal(t, &looked.Sometimes{Lines: 2, Never: []string{"a", "b"}}, l.Sometimes)
	c.Add("mine", once)
	c.Add("mine", none)
	l = c.So()
	require.Equal(t, &looked.Sometimes{Lines: 2, Never: []string{"a"}}, l.Sometimes)
	require.Contains(t, l.Rows(), looked.Row{Name: "lines", Words: "1 of 2 lines that are to come sometimes came; never: a"})
	c.Add("other", looked.Of(run(0), nil))
	require.Equal(t, []string{"a of mine", "a of other"}, c.So().Sometimes.Never)
}

func TestTargetsAreCountedApart(t *testing.T) {
	c := looked.NewCount()
	c.Add("raft", look([]string{"Vote"}, nil, 1))
	c.Add("bully", look([]string{"Vote"}, nil, 1))
	l := c.So()
	require.Equal(t, 2, l.Keys)
	require.Equal(t, []string{"Vote of bully", "Vote of raft"}, l.Unaimed)
}

func TestWhyAFaultTookNoEffect(t *testing.T) {
	r, err := harness.Simulate(context.Background(), record.Plan{Target: "raft", Nodes: 3, Seed: 1, Time: 10 * time.Second, Schedule: nemesis.Schedule{
		{At: time.Second, Fault: "kill"},
		{At: time.Second, Fault: "pause", Nodes: nemesis.Named{"old-leader"}},
		{At: time.Second, Fault: "lose-message", With: map[string]string{"kind": "Vote", "nth": "1000"}},
	}})
	require.NoError(t, err)
	why := map[string]string{}
	for _, a := range looked.Of(r, nil).Aimed {
		require.Equal(t, a.Took, a.Why == "")
		why[a.Fault] = a.Why
	}
	require.Empty(t, why["kill"])
	require.Contains(t, why["pause"], `no node to be "old-leader"`)
	require.Equal(t, "what it waited for did not happen", why["lose-message"])
}
