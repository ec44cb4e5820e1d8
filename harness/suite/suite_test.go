package suite

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness"
	"recount/harness/record"
	"recount/internal/hint"
	"recount/internal/junit"
)

var today = time.Date(2027, 3, 31, 23, 0, 0, 0, time.UTC)

func load(t *testing.T, text string) *Suite {
	t.Helper()
	file := filepath.Join(t.TempDir(), "suite.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	s, err := Load(file)
	require.NoError(t, err)
	return s
}

func run(t *testing.T, text string, cfg Config) *Outcome {
	t.Helper()
	cfg.Results = t.TempDir()
	if cfg.Now.IsZero() {
		cfg.Now = today
	}
	o, err := load(t, text).Make(t.Context(), cfg)
	require.NoError(t, err)
	return o
}

const raft = `
targets: [raft, raft-prevote]
scenarios: [non-sticky-leader]
ignore: [exclusive-leadership, bounded-terms]
`

const known = raft + "known: [{target: raft, property: sticky-leader, until: 2027-03-31, reason: pre-vote is to come}]\n"

func TestANewWeaknessFails(t *testing.T) {
	o := run(t, raft, Config{})
	require.Equal(t, record.StatusBroken, o.Status)
	require.Equal(t, Broken, o.Runs[0].State)
	require.Equal(t, Held, o.Runs[1].State)
	require.Len(t, o.findings(), 1)
	require.Equal(t, "a new weakness", o.findings()[0].Words())
	require.Equal(t, "sticky-leader", o.findings()[0].Property)
}

func TestAKnownWeaknessIsAllowedUntilItExpires(t *testing.T) {
	o := run(t, known, Config{})
	require.Equal(t, record.StatusHeld, o.Status, "on the last day")
	require.Equal(t, Allowed, o.Runs[0].State)
	require.Equal(t, "seen in 1 run, allowed until 2027-03-31", o.Known[0].words())

	o = run(t, known, Config{Now: today.Add(2 * time.Hour)})
	require.Equal(t, record.StatusBroken, o.Status)
	require.Equal(t, "known, but allowed only until 2027-03-31: pre-vote is to come", o.findings()[0].Words())
	require.Contains(t, o.Known[0].words(), "EXPIRED")
}

func TestAWeaknessThatVanishedIsReported(t *testing.T) {
	gone := strings.Replace(known, "target: raft, prop", "target: raft-prevote, prop", 1)
	gone = strings.Replace(gone, "[raft, raft-prevote]", "[raft-prevote]", 1) + "seeds: 1-2\n"
	o := run(t, gone, Config{})
	require.Equal(t, record.StatusHeld, o.Status)
	require.True(t, o.Known[0].Vanished)
	require.Contains(t, o.Sentence(), "sticky-leader of raft-prevote has vanished")
	require.NotEmpty(t, o.Annotations())

	// A shard that makes not all of the runs cannot know.
	o = run(t, gone, Config{Shard: Shard{1, 2}})
	require.False(t, o.Known[0].Vanished)
	require.Equal(t, "not seen in 1 run; others were not made here", o.Known[0].words())

	// Neither can runs that did not put it to the test.
	o = run(t, `
targets: [raft-prevote]
scenarios: [{name: calm, faults: [duplicate], time: 5s}]
known: [{target: raft-prevote, property: fencing, until: 2027-12-31, reason: none}]
`, Config{})
	require.False(t, o.Known[0].Vanished)
	require.Equal(t, "not tested", o.Known[0].words())
}

func TestWhatAScenarioExpectsIsNoWeakness(t *testing.T) {
	o := run(t, "targets: [blazingmq-term]\nscenarios: [ping-pong]\nignore: [exclusive-leadership, agreement, bounded-terms, sticky-leader]\n", Config{})
	require.Equal(t, record.StatusHeld, o.Status, "%s", o.Sentence())
}

func TestARequiredPropertyMustBeSeenToHold(t *testing.T) {
	o := run(t, "targets: [raft-prevote]\nscenarios: [ping-pong]\nrequire: [fencing]\n", Config{})
	require.Equal(t, record.StatusUnknown, o.Status)
	require.Equal(t, Undecided, o.Runs[0].State)
	o = run(t, "targets: [{target: raft, require: [sticky-leader]}]\nscenarios: [non-sticky-leader]\n"+
		"ignore: [exclusive-leadership, bounded-terms]\n", Config{})
	require.Equal(t, "a promise broke", o.findings()[0].Words())
}

func TestASuiteThatIgnoresAllThatItTestsDecidesNothing(t *testing.T) {
	all := "targets: [raft-prevote]\nscenarios: [non-sticky-leader]\n"
	require.Equal(t, record.StatusHeld, run(t, all+"ignore: [exclusive-leadership, bounded-terms]\n", Config{}).Status)
	var names []string
	for _, c := range checkers.All() {
		names = append(names, c.Property)
	}
	o := run(t, all+"ignore: ["+strings.Join(names, ", ")+"]\n", Config{})
	require.Equal(t, record.StatusUnknown, o.Status)
	require.Equal(t, Undecided, o.Runs[0].State)
	require.Equal(t, "All that it has tested is ignored.", o.Runs[0].Sentence)
	require.Contains(t, o.Sentence(), "1 run decided nothing.")
	var text, markdown strings.Builder
	require.NoError(t, o.Text(&text))
	require.Contains(t, text.String(), "\n? non-sticky-leader on raft-prevote: 1 run decided nothing; the first, seed 1\n  All that it has tested is ignored.\n")
	require.NoError(t, o.Markdown(&markdown))
	require.Contains(t, markdown.String(), "1 run decided nothing; the first, seed 1: All that it has tested is ignored.")
	require.Contains(t, o.Annotations()[0].Text, "1 run decided nothing")
}

const many = `
targets: [raft-prevote, {target: raft-prevote, name: slow, options: {scale: "2"}, nodes: 3}]
scenarios:
  - ping-pong
  - {name: random, faults: [isolate, kill], time: 10s, seeds: [4, 9-11], workloads: [fence], targets: [slow]}
ignore: [exclusive-leadership]
seeds: 1-3
`

func TestShardsSplitASuiteWithoutOverlap(t *testing.T) {
	jobs, err := load(t, many).jobs()
	require.NoError(t, err)
	require.Len(t, jobs, 2*3+4)
	seen := map[string]int{}
	for n := 1; n <= 3; n++ {
		for i, j := range jobs {
			if (Shard{n, 3}).has(i) {
				seen[j.repeat]++
			}
		}
	}
	require.Len(t, seen, len(jobs))
	for repeat, n := range seen {
		require.Equal(t, 1, n, repeat)
	}
	again, err := load(t, many).jobs()
	require.NoError(t, err)
	for i := range jobs {
		require.Equal(t, jobs[i].repeat, again[i].repeat)
	}
	for _, bad := range []string{"", "1", "0/3", "4/3", "a/b", "1/0"} {
		_, err := ParseShard(bad)
		require.Error(t, err, bad)
		require.NotEmpty(t, hint.Of(err))
	}
}

func TestTheReportsOfASuite(t *testing.T) {
	o := run(t, many, Config{})
	require.Equal(t, record.StatusHeld, o.Status, "%s", o.Sentence())
	for _, name := range []string{"index.html", "junit.xml", "suite.txt", "summary.md", "suite.json"} {
		b, err := os.ReadFile(filepath.Join(o.Dir, name))
		require.NoError(t, err)
		require.Contains(t, string(b), "random", name)
		switch name {
		case "suite.json":
			var back Outcome
			require.NoError(t, json.Unmarshal(b, &back))
			require.Equal(t, o.Looked, back.Looked)
			require.Equal(t, len(o.Runs), back.Looked.Runs)
			require.NotEmpty(t, back.Looked.Unaimed)
		case "index.html", "suite.txt", "summary.md":
			require.Contains(t, string(b), o.Looked.Chance.String(), name)
		}
	}
	for _, r := range o.Runs {
		require.FileExists(t, filepath.Join(o.Dir, r.Dir, "report.html"), "the page links to it")
	}
	var all junit.Suites
	b, err := os.ReadFile(filepath.Join(o.Dir, "junit.xml"))
	require.NoError(t, err)
	require.NoError(t, xml.Unmarshal(b, &all))
	require.Equal(t, 10, all.Tests)
	require.Len(t, all.Suites, 3)
	require.Contains(t, o.Runs[len(o.Runs)-1].Repeat,
		"recount run --nemesis isolate,kill --workload fence --target raft-prevote --opt scale=2 --nodes 3 --time 10s --seed 11")
}

func TestABrokenSuiteInJUnitAndMarkdown(t *testing.T) {
	o := run(t, raft+"seeds: 1-2\n", Config{})
	var b bytes.Buffer
	require.NoError(t, o.JUnit(&b))
	var all junit.Suites
	require.NoError(t, xml.Unmarshal(b.Bytes(), &all))
	require.Equal(t, 2, all.Failures)
	require.Contains(t, all.Suites[0].Cases[0].Failure.Message, "a new weakness: sticky-leader")
	require.Contains(t, all.Suites[0].Cases[0].Failure.Text, "repeat with: recount run non-sticky-leader --target raft")
	b.Reset()
	require.NoError(t, o.Markdown(&b))
	require.Contains(t, b.String(), "| ✕ | non-sticky-leader | raft | 2 | 2 broken |")
	require.Contains(t, o.Annotations()[0].String(), "::error title=sticky-leader of raft under non-sticky-leader::a new weakness")
}

func TestAnInterruptedSuiteKeepsWhatIsDone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cfg := Config{Results: t.TempDir(), Now: today, Jobs: 1, Progress: func(p Progress) {
		if p.Done == 3 {
			cancel()
		}
	}}
	o, err := load(t, many).Make(ctx, cfg)
	require.NoError(t, err)
	require.Equal(t, record.StatusUnknown, o.Status)
	require.True(t, o.Interrupted)
	require.GreaterOrEqual(t, o.count()[Held], 3)
	require.Positive(t, o.count()[NotRun])
	require.Contains(t, o.Sentence(), "Interrupted")
	require.FileExists(t, filepath.Join(o.Dir, "junit.xml"))
}

func TestABudgetThatIsSpentIsTold(t *testing.T) {
	o := run(t, many+"budget: 1ns\n", Config{})
	require.Equal(t, record.StatusUnknown, o.Status)
	require.Equal(t, 10, o.count()[NotRun])
	require.Contains(t, o.Sentence(), "The budget is spent: 10 runs left.")
	require.Contains(t, o.headline(), ": 0 of 10 runs in ")
}

func TestMistakesInASuite(t *testing.T) {
	for text, want := range map[string]string{
		"":                                        "the file says nothing",
		"targets: [raft]":                         "no scenarios",
		"scenarios: [a]":                          "no targets",
		"tragets: [raft]":                         `line 1, column 1: unknown field "tragets"`,
		"targets: [{a: b}]":                       `line 1, column 12: unknown field "a"`,
		"targets: [raft":                          "did not find",
		raft + "seeds: 5-1":                       `line 5, column 8: "5-1" is neither a seed nor a range`,
		raft + "seeds: [4, 1-9]":                  `line 5, column 12: seed 4 is there already`,
		raft + "seeds: some":                      `"some" is neither`,
		raft + "budget: -1s":                      "line 5, column 9: a budget of -1s is less than none",
		raft + "budget: long":                     `line 5, column 9: "long": want a duration`,
		raft + "nodes: many":                      `line 5, column 8: nodes is "many": want a whole number`,
		"targets: [{target: raft, nodes: many}]":  `line 1, column 33: nodes is "many": want a whole number`,
		"targets: [{target: raft, require: yes}]": `require is "yes": want a list`,
		"targets: [raft, raft]\nscenarios: [ping-pong]":                                                          `two targets named "raft"`,
		"targets: [raft]\nscenarios: [ping-pong, ping-pong]":                                                     `two scenarios named "ping-pong"`,
		"targets: [rafft]\nscenarios: [ping-pong]":                                                               `unknown target "rafft"`,
		"targets: [raft]\nscenarios: [pingpong]":                                                                 `unknown scenario "pingpong"`,
		"targets: [raft]\nscenarios: [none.yaml]":                                                                "no such file",
		"targets: [raft]\nscenarios: [{name: x}]":                                                                "either a scenario or faults",
		"targets: [raft]\nscenarios: [{name: x, faults: [kil]}]":                                                 `unknown fault "kil"`,
		"targets: [raft]\nscenarios: [{scenario: ping-pong, targets: [x]}]":                                      `unknown target of the suite "x"`,
		raft + "require: [elects, bounded-terms]":                                                                "line 4, column 32: ignore: bounded-terms is required of every target",
		"targets: [raft, {target: raft, name: r, require: [elects]}]\nscenarios: [ping-pong]\nignore:\n- elects": "line 4, column 3: ignore: elects is required of r",
		raft + "require: [stick]":                                                                                `unknown property "stick"`,
		raft + "known: [raft]":                                                                                   "a known weakness is a mapping",
		raft + "known: [{target: raft, property: elects, until: 2027-01-01}]":                                    "without reason",
		raft + "known: [{scenario: x}]":                                                                          "without target", // the first of several
		raft + "known: [{target: raft, property: elects, until: soon, reason: x}]":                               `"soon" is no date`,
		raft + "known: [{target: etcd, property: elects, until: 2027-01-01, reason: x}]":                         `unknown target of the suite "etcd"`,
		raft + "known: [{target: raft, property: x, until: 2027-01-01, reason: x}]":                              `unknown property "x"`,
		raft + "known: [{target: raft, property: elects, scenario: x, until: 2027-01-01, reason: x}]":            `unknown scenario of the suite "x"`,
		"targets: [{target: raft, options: {scale: fast}}]\nscenarios: [ping-pong]":                              `"fast" is not a positive number`,
		"targets: [etcd]\nscenarios: [ping-pong]":                                                                "cannot be simulated",
		"targets: [raft]\nscenarios: [ping-pong]\non: moon":                                                      `unknown place to run on "moon"`,
		"targets: [{target: raft, name: other}, raft]\nscenarios: [{scenario: ping-pong, targets: [raf]}]":       `unknown target of the suite "raf"`,
	} {
		file := filepath.Join(t.TempDir(), "suite.yaml")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		_, err := Load(file)
		require.ErrorContains(t, err, want, text)
		require.True(t, harness.IsUsage(err), text)
		require.NotEmpty(t, hint.Of(err), text)
		require.NotContains(t, err.Error(), "\n")
	}
	file := filepath.Join(t.TempDir(), "suite.yaml")
	require.NoError(t, os.WriteFile(file, []byte("targets: [etcd]\nscenarios: [ping-pong]"), 0o644))
	_, err := Load(file)
	require.Contains(t, hint.Of(err), "add on: docker; or on: virtual", "a file has no flags")
	_, err = Load(filepath.Join(t.TempDir(), "none.yaml"))
	require.True(t, harness.IsUsage(err))
}

// Most files that describe a target are called election.yaml.
func TestTargetsAreCalledAsTheirFilesSay(t *testing.T) {
	dir := t.TempDir()
	for folder, name := range map[string]string{"a": "name: one\n", "b": "name: two\n", "c": ""} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, folder), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, folder, "election.yaml"),
			[]byte(name+"image: a\nports: {p: 1}\ntimes: {silence: 1s}\nobserve: {http: /, role: role}\n"), 0o644))
	}
	file := filepath.Join(dir, "suite.yaml")
	require.NoError(t, os.WriteFile(file, []byte("targets: [a/election.yaml, b/election.yaml, c/election.yaml]\non: docker\nscenarios: [non-sticky-leader]\n"), 0o644))
	s, err := Load(file)
	require.NoError(t, err)
	var names []string
	for _, target := range s.Targets {
		names = append(names, target.Name)
	}
	require.Equal(t, []string{"one", "two", "election"}, names)
}

// A target's name, and so a run's folder, may have characters that mean something in links.
func TestLinksLeadToRunsOfAnyName(t *testing.T) {
	o := &Outcome{Runs: []*Run{
		{Target: "a", State: Broken, Dir: "runs/50%31 #1?/x", Weaknesses: []*Weakness{{Property: "elects"}}},
		{Target: "b", State: Unstarted, Error: "why", Dir: "runs/50%31 #1?/y"},
	}}
	var page bytes.Buffer
	require.NoError(t, o.HTML(&page))
	require.Equal(t, 2, strings.Count(page.String(), `href="runs/50%2531%20%231%3F/x/report.html"`))
	require.Contains(t, page.String(), `href="runs/50%2531%20%231%3F/y/run.json"`)
}
