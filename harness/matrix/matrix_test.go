package matrix

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/election"
	"recount/harness"
	"recount/harness/batch"
	"recount/harness/record"
	"recount/history"
	"recount/targets"
)

// Elections for these tests: one that promises what it cannot keep, one that crashes, and one whose messages beget messages.
func init() {
	honest, err := targets.Find("heartbeat-only")
	if err != nil {
		panic(err)
	}
	boastful := *honest
	boastful.Name, boastful.Promises = "test-boastful", []targets.Promise{{Property: "exclusive-leadership"}}
	targets.Register(&boastful)
	crashing := *honest
	crashing.Name = "test-crashing"
	crashing.Promises = []targets.Promise{{
		Property: "exclusive-leadership", Unless: func(history.Changes) bool { panic("out of range") },
	}}
	targets.Register(&crashing)
	endless := *honest
	endless.Name = "test-endless"
	endless.Node = func(_ targets.Options, env election.Env) election.Node { return echo{env} }
	targets.Register(&endless)
}

// echo answers each message by two, once the first has been sent.
type echo struct{ env election.Env }

func (e echo) Start()                  { e.env.SetTimer(0, time.Second) }
func (e echo) Expire(election.Timer)   { e.env.Send(e.env.ID()%2+1, election.Message{Kind: "Echo"}) }
func (e echo) Status() election.Status { return election.Status{} }
func (e echo) Receive(from election.ID, m election.Message) {
	e.env.Send(from, m)
	e.env.Send(from, m)
}

func quiet(batch.Progress) {}

func planned(t *testing.T, rows, faults, scenarios []string) Plan {
	p := Plan{On: record.OnSim, Seeds: 3, Nodes: []int{3, 4}, Time: 20 * time.Second, Workloads: []string{"fence"}, Jobs: 2}
	var err error
	p.Rows, err = ParseRows(rows, record.OnSim)
	require.NoError(t, err)
	p.Columns, err = ParseColumns(faults, scenarios)
	require.NoError(t, err)
	require.NoError(t, p.Check())
	return p
}

func measure(t *testing.T, p Plan) *Table {
	table, err := Measure(context.Background(), p, quiet)
	require.NoError(t, err)
	return table
}

func (t *Table) cell(row, column, property string) *Cell {
	r := slices.IndexFunc(t.Rows, func(r Row) bool { return r.Word == row })
	c := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == column })
	p := slices.IndexFunc(t.Properties, func(p Property) bool { return p.Name == property })
	return &t.Pair(r, c).Cells[p]
}

// A run that is cut short because its nodes work without end breaks what every election promises.
func TestNodesThatWorkWithoutEndAreFound(t *testing.T) {
	p := planned(t, []string{"test-endless", "raft"}, []string{"none"}, nil)
	p.Seeds = 1
	table := measure(t, p)
	require.Equal(t, 2, table.Runs)
	is := table.cell("test-endless", "none", harness.NoProgress)
	require.Equal(t, Broken, is.Verdict)
	require.Contains(t, is.Why, "Echo n1→n2")
	require.Equal(t, NotApplicable, table.cell("raft", "none", harness.NoProgress).Verdict)
	require.Equal(t, Valid, table.cell("raft", "none", "single-leader-per-term").Verdict)
	require.Equal(t, record.StatusBroken, table.Status())
	var b bytes.Buffer
	require.NoError(t, Summarise(&b, table, false))
	require.Contains(t, b.String(), "test-endless no-progress")
}

func TestAMatrixTellsWhatHoldsFromWhatBreaks(t *testing.T) {
	table := measure(t, planned(t, []string{"heartbeat-only", "raft-prevote", "test-boastful"}, []string{"none", "isolate"}, []string{"ping-pong"}))
	require.Equal(t, 3*3*3, table.Runs)
	require.Equal(t, table.Planned, table.Runs)
	require.Empty(t, table.Stopped)
	require.Empty(t, table.Missed)
	for _, c := range []struct {
		row, column, property string
		want                  Outcome
	}{
		{"heartbeat-only", "none", "exclusive-leadership", Valid},
		{"heartbeat-only", "isolate", "exclusive-leadership", Weak},
		{"heartbeat-only", "isolate", "single-leader-per-term", NotApplicable},
		{"test-boastful", "none", "exclusive-leadership", Valid},
		{"test-boastful", "isolate", "exclusive-leadership", Broken},
		{"raft-prevote", "isolate", "single-leader-per-term", Valid},
		{"raft-prevote", "isolate", "sticky-leader", Valid},
		{"raft-prevote", "ping-pong", "no-ping-pong", Valid},
		{"raft-prevote", "none", "fencing", NotApplicable},
	} {
		got := table.cell(c.row, c.column, c.property)
		require.Equal(t, c.want, got.Verdict, "%s, %s: %s: %s", c.row, c.column, c.property, got.Why)
	}
	require.Equal(t, record.StatusBroken, table.Status())
	require.True(t, table.cell("raft-prevote", "isolate", "vote-once").Promised)
	require.False(t, table.cell("heartbeat-only", "isolate", "exclusive-leadership").Promised)
}

// A matrix that goes on where another ended has its seeds to itself.
func TestTheFirstSeedOfAMatrix(t *testing.T) {
	p := planned(t, []string{"heartbeat-only"}, []string{"isolate"}, nil)
	p.Seeds, p.First = 2, 301
	c := measure(t, p).cell("heartbeat-only", "isolate", "exclusive-leadership")
	require.Equal(t, 2, c.Invalid)
	require.Equal(t, uint64(301), c.Seed)
	require.Contains(t, c.Command, "--seed 301")
}

func TestAMatrixTakesAnySeed(t *testing.T) {
	p := planned(t, []string{"heartbeat-only"}, []string{"isolate"}, nil)
	p.Nodes = []int{3, 4, 5}
	for _, p.First = range []uint64{1<<63 - 1, 1 << 63, 1<<63 + 1, 1<<64 - 1} {
		require.Equal(t, 3+int(p.First%3), p.run(&p.Rows[0], &p.Columns[0], p.First).Nodes)
	}
}

func TestTheSeedOfACellIsTheSmallestThatShowsIt(t *testing.T) {
	p := planned(t, []string{"raft:forget-vote"}, []string{"kill"}, nil)
	p.Seeds = 40
	c := measure(t, p).cell("raft:forget-vote", "kill", "vote-once")
	require.Equal(t, Weak, c.Verdict)
	require.Positive(t, c.Caught)
	for seed := uint64(1); seed <= c.Seed; seed++ {
		plan := p.run(&p.Rows[0], &p.Columns[0], seed)
		r, err := harness.Simulate(context.Background(), plan)
		require.NoError(t, err)
		i := slices.IndexFunc(r.Verdicts, func(v record.Verdict) bool { return v.Property == "vote-once" })
		require.Equal(t, seed == c.Seed, r.Verdicts[i].Verdict == checkers.Invalid, "seed %d", seed)
		if seed == c.Seed {
			require.Equal(t, r.Verdicts[i].Why, c.Why)
			require.Equal(t, plan.Command(), c.Command)
		}
	}
}

func TestAMatrixIsTheSameHoweverManyMakeIt(t *testing.T) {
	p := planned(t, []string{"raft", "random-backoff"}, []string{"none", "mixed"}, []string{"non-sticky-leader"})
	p.Jobs = 1
	one := measure(t, p)
	p.Jobs = 8
	require.Equal(t, one.Pairs, measure(t, p).Pairs)
}

func TestFootGunsAreCaughtByWhatTheyAreThereToBreak(t *testing.T) {
	table := measure(t, planned(t, []string{"raft", "raft:forget-vote", "raft:pre-vote"}, []string{"crash"}, []string{"paused-leader"}))
	guns := table.FootGuns()
	require.Len(t, guns, 1, "pre-vote makes nothing wrong")
	require.Equal(t, "forget-vote", guns[0].Option)
	require.Equal(t, []string{"raft:forget-vote"}, guns[0].Rows)
	require.True(t, guns[0].Tried)
	for _, f := range guns[0].By {
		require.Contains(t, table.Rows[1].Breaks, f.Property)
		require.Equal(t, []string{"crash"}, f.Columns, "a stale write that only was recorded is no evidence: %s", f.Property)
	}
	require.Contains(t, guns[0].Properties(), "vote-once")
	require.Len(t, guns[0].Shown(), 1)
	require.Equal(t, Weak, table.cell("raft:forget-vote", "paused-leader", "fencing").Verdict)
	for _, f := range table.Findings(Weak) {
		require.NotEqual(t, "raft:forget-vote", f.Row, "what else it breaks is raft's")
	}
	require.Equal(t, record.StatusHeld, table.Status())
}

// Plain raft has two leaders for a moment, too, and without check-quorum nothing is missing: that is no foot-gun's doing.
func TestAFootGunIsNotBlamedForWhatItsTargetDoesAnyway(t *testing.T) {
	p := planned(t, []string{"raft:no-quorum-check", "raft-prevote:no-quorum-check"}, []string{"isolate", "delay", "line"}, nil)
	p.Seeds = 10
	table := measure(t, p)
	require.Equal(t, Weak, table.cell("raft:no-quorum-check", "isolate", "exclusive-leadership").Verdict)
	require.Zero(t, table.cell("raft:no-quorum-check", "isolate", "exclusive-leadership").Caught)
	guns := table.FootGuns()
	require.Len(t, guns, 1)
	require.Equal(t, []string{"raft:no-quorum-check", "raft-prevote:no-quorum-check"}, guns[0].Rows)
	require.NotEmpty(t, guns[0].By)
	for _, f := range guns[0].By {
		require.Equal(t, "raft-prevote:no-quorum-check", f.Row)
	}
}

// What a run without a foot-gun has not broken by the time that it is cut short is not held against the foot-gun.
func TestAFootGunIsNotBlamedByARunThatIsCutShort(t *testing.T) {
	p := planned(t, []string{"raft-prevote:no-quorum-check"}, []string{"isolate"}, nil)
	j := job{row: &p.Rows[0], column: &p.Columns[0], plan: p.run(&p.Rows[0], &p.Columns[0], 1)}
	with, err := harness.Simulate(context.Background(), j.plan)
	require.NoError(t, err)
	m := &measurement{Plan: p}
	caught, err := m.caught(context.Background(), j, with)
	require.NoError(t, err)
	require.Contains(t, caught, "exclusive-leadership")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	caught, err = m.caught(ctx, j, with)
	require.NoError(t, err)
	require.Empty(t, caught)
}

func TestWhatCannotRunIsBarredAndSaysWhy(t *testing.T) {
	p := planned(t, []string{"raft"}, []string{"none", "isolate"}, nil)
	p.Time = time.Millisecond
	table := measure(t, p)
	require.Equal(t, 3, table.Runs)
	require.Empty(t, table.Pair(0, 0).Barred)
	require.Contains(t, table.Pair(0, 1).Barred, "too short for a fault")
	p.Columns = p.Columns[1:]
	table = measure(t, p)
	require.Zero(t, table.Runs)
	require.Equal(t, record.StatusUnknown, table.Status())

	var text, markdown, page bytes.Buffer
	require.NoError(t, Text(&text, table))
	require.NoError(t, Markdown(&markdown, table))
	require.NoError(t, HTML(&page, table))
	require.Regexp(t, `(?m)^raft +– +–`, text.String())
	require.Contains(t, markdown.String(), "| `raft` | – |")
	require.Contains(t, page.String(), `<i class="na">`)
	require.NotContains(t, page.String(), `<i class="x">`)
}

func TestWhatBarsSeveralRowsIsSaidOnce(t *testing.T) {
	p := planned(t, []string{"raft", "bully", "ring"}, []string{"isolate", "kill"}, nil)
	require.NoError(t, p.Check())
	table := newTable(&p)
	for i := range table.Pairs {
		switch pair := &table.Pairs[i]; {
		case pair.Column == "isolate":
			pair.Barred = "too short for a fault"
		case pair.Row != "bully":
			pair.Barred = "too few nodes"
		}
	}
	var text bytes.Buffer
	require.NoError(t, Text(&text, table))
	_, barred, _ := strings.Cut(text.String(), "no run is possible\n  ")
	require.True(t, strings.HasPrefix(barred, "isolate (all): too short for a fault\n  kill (raft, ring): too few nodes\n"), barred)
}

func TestACrashIsAFailureWithAWayBack(t *testing.T) {
	p := planned(t, []string{"test-crashing"}, []string{"none"}, nil)
	p.Jobs = 1
	_, err := Measure(context.Background(), p, quiet)
	require.ErrorContains(t, err, "recount run --target test-crashing --nodes 4")
	require.ErrorContains(t, err, "out of range")
	require.False(t, harness.IsUsage(err))
}

func TestAMatrixThatIsStoppedKeepsWhatItFound(t *testing.T) {
	p := planned(t, []string{"heartbeat-only"}, []string{"isolate"}, nil)
	p.Seeds = 1000
	ctx, cancel := context.WithCancel(context.Background())
	table, err := Measure(ctx, p, func(now batch.Progress) {
		if now.Done == 10 {
			cancel()
		}
	})
	require.NoError(t, err)
	require.True(t, table.Interrupted)
	require.GreaterOrEqual(t, table.Runs, 9)
	require.Less(t, table.Runs, 20)
	require.Equal(t, Weak, table.cell("heartbeat-only", "isolate", "exclusive-leadership").Verdict)
	require.Equal(t, record.StatusUnknown, table.Status())

	table, err = Measure(ctx, planned(t, []string{"raft:forget-vote"}, []string{"isolate"}, nil), quiet)
	require.NoError(t, err)
	require.False(t, table.FootGuns()[0].Tried)
	var text bytes.Buffer
	require.NoError(t, Text(&text, table))
	require.Contains(t, text.String(), "forget-vote: not measured, as raft:forget-vote")

	p.Seeds, p.Budget = 0, time.Millisecond
	table = measure(t, p)
	require.Contains(t, table.Stopped, "The budget of 1ms")
	require.False(t, table.Interrupted)
}

func TestProgressCountsToTheEnd(t *testing.T) {
	p := planned(t, []string{"raft"}, []string{"none"}, nil)
	var mu sync.Mutex
	var last batch.Progress
	_, err := Measure(context.Background(), p, func(now batch.Progress) {
		mu.Lock()
		defer mu.Unlock()
		require.GreaterOrEqual(t, now.Done, last.Done)
		last = now
	})
	require.NoError(t, err)
	require.Equal(t, 3, last.Done)
	require.Equal(t, 3, last.Planned)
	require.Zero(t, last.Left)
}

func TestEveryViolationHasARunThatShowsIt(t *testing.T) {
	p := planned(t, []string{"test-boastful", "raft"}, []string{"isolate"}, []string{"ping-pong"})
	table := measure(t, p)
	dir := t.TempDir()
	require.NoError(t, Keep(context.Background(), p, table, dir, 0, quiet))
	violations := 0
	for i := range table.Pairs {
		for k, c := range table.Pairs[i].Cells {
			if c.Verdict < Weak {
				require.Empty(t, c.Run)
				continue
			}
			violations++
			require.FileExists(t, filepath.Join(dir, c.Run, "report.html"))
			r, err := record.Read(filepath.Join(dir, c.Run))
			require.NoError(t, err)
			require.Equal(t, c.Command, r.Repeat)
			require.Equal(t, checkers.Invalid, r.Verdicts[k].Verdict)
			require.Equal(t, c.Why, r.Verdicts[k].Why)
		}
	}
	require.Positive(t, violations)

	for i := range table.Pairs {
		for k := range table.Pairs[i].Cells {
			table.Pairs[i].Cells[k].Run = ""
		}
	}
	require.NoError(t, Keep(context.Background(), p, table, dir, 1, quiet))
	require.NotEmpty(t, table.Findings(Broken)[0].Cell.Run, "a broken promise comes first")
	require.Empty(t, table.cell("raft", "ping-pong", "no-ping-pong").Run, "a weakness does not")

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.NoError(t, Keep(ctx, p, table, t.TempDir(), 0, quiet), "an end is no failure")
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.Error(t, Keep(context.Background(), p, table, file, 0, quiet))
}

// A run that is cut short while it is kept does not show what its cell tells: the cell is left without.
func TestARunThatIsCutShortIsNoExample(t *testing.T) {
	p := planned(t, []string{"test-boastful"}, []string{"isolate"}, nil)
	table := measure(t, p)
	cell := table.cell("test-boastful", "isolate", "exclusive-leadership")
	require.Positive(t, cell.Invalid)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	k := &keeping{plan: &p, table: table, dir: t.TempDir()}
	folder, err := k.make(ctx, wanted{seed: cell.Seed})
	require.NoError(t, err)
	require.Empty(t, folder)
}

// A scenario expects things of its own target. That it is told when they do not happen is seen with expectations that
// cannot be met.
func TestAScenarioThatMissesItsPointIsTold(t *testing.T) {
	p := planned(t, []string{"blazingmq-term", "raft"}, nil, []string{"ping-pong"})
	s := *p.Columns[0].scenario
	s.Expect = map[string]checkers.Verdict{"no-ping-pong": checkers.Valid}
	p.Columns[0].scenario = &s
	table := measure(t, p)
	require.Len(t, table.Missed, 1)
	m := table.Missed[0]
	require.Equal(t, "recount run ping-pong --target blazingmq-term --seed 1", m.Command)
	require.Equal(t, []string{"no-ping-pong", "valid", "invalid"}, []string{m.Property, m.Expected, m.Got})
	require.Equal(t, 3, m.Runs)
	require.Equal(t, record.StatusBroken, table.Status())
}

func TestARunOfAScenarioHasTheOptionsOfItsRow(t *testing.T) {
	expect := map[string]checkers.Verdict{"elects": checkers.Valid}
	scenario := &harness.Scenario{
		Name: "s", Target: "raft", Options: map[string]string{"scale": "2", "forget-vote": "true"}, Expect: expect,
	}
	c := &Column{Name: "s", Kind: Written, scenario: scenario}
	p := &Plan{On: record.OnSim}
	for word, want := range map[string]map[string]string{
		"raft":                     {"scale": "2", "forget-vote": "false"},
		"raft:forget-vote":         {"scale": "2", "forget-vote": "true"},
		"raft:forget-vote:scale=3": {"scale": "3", "forget-vote": "true"},
		"raft-prevote":             nil,
	} {
		r, err := parseRow(word, record.OnSim)
		require.NoError(t, err)
		run := p.run(&r, c, 1)
		require.Equal(t, want, run.Options, word)
		require.Equal(t, word == "raft:forget-vote", run.Expect != nil, "%s: what is expected is expected of the scenario's own", word)
	}
	require.Equal(t, map[string]string{"scale": "2", "forget-vote": "true"}, scenario.Options, "which stay as they are")
}

func TestBoundsOfRunsSuitTheirRows(t *testing.T) {
	rows, err := ParseRows([]string{AllRows}, record.OnSim)
	require.NoError(t, err)
	for i := range rows {
		b := rows[i].found.Bounds(rows[i].options)
		require.GreaterOrEqual(t, rows[i].time(), min(2*b.Elect, 5*time.Minute), rows[i].Word)
		require.Zero(t, rows[i].time()%time.Second)
	}
}
