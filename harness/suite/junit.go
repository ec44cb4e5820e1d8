package suite

import (
	"fmt"
	"io"
	"strings"
	"time"

	"recount/internal/junit"
)

// What CI systems read of a suite: a test suite for each scenario and target, with a test case for each run.

// JUnit writes the whole suite in JUnit's XML.
func (o *Outcome) JUnit(w io.Writer) error {
	all := junit.Suites{Name: "recount: " + o.File, Time: junit.Seconds(o.Took)}
	for _, r := range o.rows() {
		s := junit.Suite{Name: r.Scenario + " on " + r.Target, Timestamp: junit.Timestamp(o.Started)}
		var took time.Duration
		for _, run := range r.All {
			s.Cases = append(s.Cases, run.junit())
			took += run.Took
		}
		s.Time = junit.Seconds(took)
		all.Suites = append(all.Suites, s)
	}
	return junit.Write(w, &all)
}

func (r *Run) junit() junit.Case {
	c := junit.Case{
		Class: "recount." + r.Target + "." + r.Scenario, Name: fmt.Sprintf("seed %d", r.Seed), Time: junit.Seconds(r.Took),
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
		c.Failure = &junit.Outcome{Message: message, Text: c.Out}
	case Undecided:
		c.Error = &junit.Outcome{Message: "nothing is decided: " + message, Text: c.Out}
	case Unstarted:
		c.Error = &junit.Outcome{Message: "it did not start: " + r.Error, Text: c.Out}
	case Failed:
		c.Error = &junit.Outcome{Message: r.Error, Text: c.Out}
	case NotRun, Interrupted:
		c.Skipped = &junit.Outcome{Message: string(r.State)}
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
