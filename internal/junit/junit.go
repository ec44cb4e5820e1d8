// Package junit writes what came of tests in JUnit's XML, which CI systems read. There is no standard; this is the part that
// their schemas have in common: https://github.com/testmoapp/junitxml
package junit

import (
	"encoding/xml"
	"io"
	"strconv"
	"time"
)

// Suites is a whole file.
type Suites struct {
	XMLName xml.Name `xml:"testsuites"`
	Name    string   `xml:"name,attr"`
	Counts
	Time   string  `xml:"time,attr"` // in Seconds
	Suites []Suite `xml:"testsuite"`
}

// Suite is a number of test cases that belong together.
type Suite struct {
	Name string `xml:"name,attr"`
	Counts
	Time       string      `xml:"time,attr"` // in Seconds
	Timestamp  string      `xml:"timestamp,attr,omitempty"`
	Properties *[]Property `xml:"properties>property"` // nil where there are none: an empty element is not in all schemas
	Cases      []Case      `xml:"testcase"`
	Out        string      `xml:"system-out,omitempty"`
}

// Counts says how many cases there are, and what came of them. Write counts; nobody else has to.
type Counts struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Skipped  int `xml:"skipped,attr"`
}

// Property is something that is to be known of a suite.
type Property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// Case is one test case. It passed if it has no outcome; it has one at most.
type Case struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	Time    string   `xml:"time,attr"`
	Skipped *Outcome `xml:"skipped"`
	Error   *Outcome `xml:"error"`   // nothing could be said
	Failure *Outcome `xml:"failure"` // what was tested is wrong
	Out     string   `xml:"system-out,omitempty"`
}

// Outcome is why a case did not pass.
type Outcome struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// Seconds is a length of time as the files have it, to the millisecond.
func Seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }

// Timestamp is a time as the files have it: in UTC, to the second, without a zone.
func Timestamp(t time.Time) string { return t.UTC().Format(time.DateOnly + "T" + time.TimeOnly) }

// Write counts the cases of s and writes it.
func Write(w io.Writer, s *Suites) error {
	s.Counts = Counts{}
	for i := range s.Suites {
		suite := &s.Suites[i]
		suite.Counts = count(suite.Cases)
		s.Tests += suite.Tests
		s.Failures += suite.Failures
		s.Errors += suite.Errors
		s.Skipped += suite.Skipped
	}
	b, err := xml.MarshalIndent(s, "", "  ")
	if err == nil {
		_, err = io.WriteString(w, xml.Header+string(b)+"\n")
	}
	if err != nil {
		return err
	}
	return nil
}

func count(cases []Case) Counts {
	n := Counts{Tests: len(cases)}
	for _, c := range cases {
		switch {
		case c.Failure != nil:
			n.Failures++
		case c.Error != nil:
			n.Errors++
		case c.Skipped != nil:
			n.Skipped++
		}
	}
	return n
}
