package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"recount/checkers"
	"recount/internal/junit"
)

// The JUnit file is what CI systems read: a test case for each property. Only what decides the run's status fails it:
// a known weakness is skipped with its reason, for it does not hold and yet is no failure.

// JUnit writes the run in JUnit's XML.
func JUnit(w io.Writer, r *Run) error {
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
	for _, v := range r.ranked() {
		suite.Cases = append(suite.Cases, v.junit(r))
	}
	return junit.Write(w, &junit.Suites{Name: "recount", Time: suite.Time, Suites: []junit.Suite{suite}})
}

func (v *Verdict) junit(r *Run) junit.Case {
	c := junit.Case{Class: "recount." + strings.ReplaceAll(headline(r), " · ", "."), Name: v.Property, Time: "0"}
	o := &junit.Outcome{Message: v.Why, Type: v.standing(), Text: v.details(r)}
	switch {
	case v.fails():
		c.Failure = o
	case v.open():
		c.Error = o
	case v.Verdict == checkers.Unknown, v.Verdict == checkers.Invalid && !v.met():
		c.Skipped = &junit.Outcome{Message: v.standing() + ": " + v.Why}
	default:
		c.Out = v.details(r)
	}
	return c
}

// details says all that is known about a verdict, in lines, down to the way back to it.
func (v *Verdict) details(r *Run) string {
	lines := []string{fmt.Sprintf("%v: %s: %s", v.Verdict, v.Property, v.Why)}
	if e := v.evidence(20); e != "" {
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
		lines = append(lines, "report: "+r.Page())
	}
	if r.Repeat != "" {
		lines = append(lines, "reproduce with: "+r.Repeat)
	}
	return strings.Join(lines, "\n") + "\n"
}
