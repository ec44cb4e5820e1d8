package suite

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
)

// What CI systems read of a suite: a test suite for each scenario and target, with a test case for each run.

type junitAll struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name      string      `xml:"name,attr"`
	Tests     int         `xml:"tests,attr"`
	Failures  int         `xml:"failures,attr"`
	Errors    int         `xml:"errors,attr"`
	Skipped   int         `xml:"skipped,attr"`
	Time      string      `xml:"time,attr"`
	Timestamp string      `xml:"timestamp,attr"`
	Cases     []junitCase `xml:"testcase"`
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
	Text    string `xml:",chardata"`
}

// JUnit writes the whole suite in JUnit's XML.
func (o *Outcome) JUnit(w io.Writer) error {
	all := junitAll{Name: "recount: " + o.File, Time: seconds(o.Took)}
	for _, r := range o.rows() {
		s := junitSuite{Name: r.Scenario + " on " + r.Target, Timestamp: o.Started.UTC().Format("2006-01-02T15:04:05")}
		var took time.Duration
		for _, run := range r.All {
			c := run.junit()
			took += run.Took
			s.Tests++
			switch {
			case c.Failure != nil:
				s.Failures++
			case c.Error != nil:
				s.Errors++
			case c.Skipped != nil:
				s.Skipped++
			}
			s.Cases = append(s.Cases, c)
		}
		s.Time = seconds(took)
		all.Tests, all.Failures, all.Errors, all.Skipped = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors, all.Skipped+s.Skipped
		all.Suites = append(all.Suites, s)
	}
	b, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("suite: encode junit: %w", err)
	}
	_, err = io.WriteString(w, xml.Header+string(b)+"\n")
	return err
}

func (r *Run) junit() junitCase {
	c := junitCase{
		Class: "recount." + r.Target + "." + r.Scenario, Name: fmt.Sprintf("seed %d", r.Seed), Time: seconds(r.Took),
		Out: r.details(),
	}
	message := r.Sentence
	for _, w := range r.Weaknesses {
		if w.fails() {
			message = (&finding{First: r, Weakness: *w}).Words() + ": " + w.Property + ": " + w.Why
			break
		}
	}
	switch r.State {
	case Broken:
		c.Failure = &junitOutcome{message, c.Out}
	case Undecided:
		c.Error = &junitOutcome{"nothing is decided: " + message, c.Out}
	case Failed:
		c.Error = &junitOutcome{r.Error, c.Out}
	case NotRun, Interrupted:
		c.Skipped = &junitOutcome{Message: string(r.State)}
	case Held, Allowed:
	}
	return c
}

// details says all that is known about a run, in lines, down to the way back to it.
func (r *Run) details() string {
	lines := []string{r.Sentence}
	for _, w := range r.Weaknesses {
		line := fmt.Sprintf("%s: %s", w.Property, w.Why)
		if w.Known != nil {
			line += fmt.Sprintf(" (known until %v: %s)", w.Known.Until, w.Known.Reason)
		}
		lines = append(lines, line)
	}
	if r.Dir != "" {
		lines = append(lines, "run: "+r.Dir)
	}
	return strings.Join(append(lines, "repeat with: "+r.Repeat), "\n") + "\n"
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
