package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"recount/checkers"
)

// The JUnit file is what CI systems read: a test case for each property. Only what decides the run's status fails it:
// a known weakness is skipped with its reason, for it does not hold and yet is no failure.

type junitSuites struct {
	XMLName  xml.Name   `xml:"testsuites"`
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Skipped  int        `xml:"skipped,attr"`
	Time     string     `xml:"time,attr"`
	Suite    junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Timestamp  string          `xml:"timestamp,attr,omitempty"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
	Out        string          `xml:"system-out"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Skipped *junitOutcome `xml:"skipped"`
	Error   *junitOutcome `xml:"error"`
	Failure *junitOutcome `xml:"failure"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitOutcome struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// JUnit writes the run in JUnit's XML.
func JUnit(w io.Writer, r *Run) error {
	length := strconv.FormatFloat(r.Took.Seconds(), 'f', 3, 64)
	suite := junitSuite{Name: "recount: " + headline(r), Time: length, Out: Sentence(r) + "\nrepeat with: " + r.Repeat + "\n"}
	if !r.Started.IsZero() {
		suite.Timestamp = r.Started.UTC().Format(time.DateOnly + "T" + time.TimeOnly)
	}
	suite.Properties = []junitProperty{
		{"target", r.Target}, {"cluster", r.Cluster}, {"seed", strconv.FormatUint(r.Seed, 10)}, {"repeat", r.Repeat},
	}
	for _, v := range r.ranked() {
		c := junitCase{Class: "recount." + strings.ReplaceAll(headline(r), " · ", "."), Name: v.Property, Time: "0"}
		o := &junitOutcome{Message: v.Why, Type: v.standing(), Text: v.details(r)}
		switch {
		case v.broken(), v.missed() && v.Verdict != checkers.Unknown:
			c.Failure = o
			suite.Failures++
		case v.Verdict == checkers.Unknown && (v.Promised && !v.Untested || v.missed()):
			c.Error = o
			suite.Errors++
		case v.Verdict == checkers.Unknown, v.Verdict == checkers.Invalid && !v.met():
			c.Skipped = &junitOutcome{Message: v.standing() + ": " + v.Why}
			suite.Skipped++
		default:
			c.Out = v.details(r)
		}
		suite.Cases = append(suite.Cases, c)
	}
	suite.Tests = len(suite.Cases)
	all := junitSuites{
		Name: "recount", Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors, Skipped: suite.Skipped,
		Time: length, Suite: suite,
	}
	b, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("report: encode junit: %w", err)
	}
	if _, err := io.WriteString(w, xml.Header+string(b)+"\n"); err != nil {
		return fmt.Errorf("report: write junit: %w", err)
	}
	return nil
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
