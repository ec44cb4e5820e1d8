package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"recount/checkers"
	"recount/harness/record"
	"recount/internal/junit"
)

// The JUnit file is what CI systems read: a test case for each property. Only what decides the run's status fails it:
// a known weakness is skipped with its reason, for it does not hold and yet is no failure.

// JUnit writes the run in JUnit's XML. A run that decides nothing must not be green: where no property says so, a case of its own does.
func JUnit(w io.Writer, r *record.Run) error {
	suite := junit.Suite{
		Name: "recount: " + headline(r), Time: junit.Seconds(r.Took),
		Properties: &[]junit.Property{
			{Name: "target", Value: r.Target}, {Name: "cluster", Value: r.Cluster},
			{Name: "seed", Value: strconv.FormatUint(r.Seed, 10)}, {Name: "repeat", Value: r.Repeat},
		},
		Out: Sentence(r) + "\nrepeat with: " + r.Repeat + "\n",
	}
	if !r.Started.IsZero() {
		suite.Timestamp = junit.Timestamp(r.Started)
	}
	class := "recount." + strings.ReplaceAll(headline(r), " · ", ".")
	for _, v := range ranked(r) {
		c := testCase(v, r)
		c.Class = class
		suite.Cases = append(suite.Cases, c)
	}
	if undecided(r) {
		suite.Cases = append(suite.Cases, junit.Case{Class: class, Name: "run", Time: "0", Error: &junit.Outcome{Message: Sentence(r), Text: suite.Out}})
	}
	return junit.Write(w, &junit.Suites{Name: "recount", Time: suite.Time, Suites: []junit.Suite{suite}})
}

func testCase(v *record.Verdict, r *record.Run) junit.Case {
	c := junit.Case{Name: v.Property, Time: "0"}
	o := &junit.Outcome{Message: v.Why, Type: meaning(v), Text: details(v, r)}
	switch m := v.Meaning(); {
	case m.Fails():
		c.Failure = o
	case m.Open():
		c.Error = o
	case v.Verdict == checkers.Unknown, m == record.Weakness, m == record.Excused:
		c.Skipped = &junit.Outcome{Message: meaning(v) + ": " + v.Why}
	default:
		c.Out = details(v, r)
	}
	return c
}

// details says all that is known about a verdict, in lines, down to the way back to it.
func details(v *record.Verdict, r *record.Run) string {
	lines := []string{fmt.Sprintf("%v: %s: %s", v.Verdict, v.Property, v.Why)}
	if e := evidence(v, 20); e != "" {
		lines = append(lines, e)
	}
	if v.While != "" {
		lines = append(lines, "promised while "+v.While)
	}
	for _, f := range v.Figures {
		lines = append(lines, f.Name+": "+f.Value)
	}
	if v.Stack != "" {
		lines = append(lines, v.Stack)
	}
	if r.Dir != "" {
		lines = append(lines, "report: "+Page(r))
	}
	if r.Repeat != "" {
		lines = append(lines, "reproduce with: "+r.Repeat)
	}
	return strings.Join(lines, "\n") + "\n"
}
