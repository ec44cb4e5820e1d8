// Package recounttest makes runs of elections inside of "go test": each is a subtest, which fails with the evidence and
// with the command that repeats it.
//
// A target that a test brings along is registered first, in an init function of the test's package:
//
//	func init() { targets.Register(&targets.Target{Name: "mine", …}) }
//
//	func TestMain(m *testing.M) { recounttest.Main(m) } // only for runs on containers
//
//	func TestPingPong(t *testing.T) {
//		recounttest.Run(t, "mine", "ping-pong")
//		recounttest.Run(t, "mine", "", recounttest.Faults("isolate", "kill"), recounttest.Seeds(1, 2, 3))
//		recounttest.Run(t, "mine", "partition.yaml", recounttest.OnDocker())
//	}
//
// A run that did not hold leaves its folder, with the report, in the folder results of the test's package; with
// "go test -artifacts" every run leaves one where go test keeps artifacts.
package recounttest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recount/docker/entrypoint"
	"recount/harness"
	"recount/harness/record"
	"recount/internal/hint"
	"recount/report"
)

// Main runs the tests of a package that makes runs on containers. It is what its TestMain calls: containers run the
// test's own executable, which must then know that it is not to test anything. It does not return.
func Main(m *testing.M) {
	if status, ours := entrypoint.Main(os.Args, os.Stderr); ours {
		os.Exit(status)
	}
	insideAware = true
	status := m.Run()
	discard()
	os.Exit(status)
}

// insideAware tells that the test's executable can serve in containers.
var insideAware bool

// Run makes a run of a target as a subtest, and returns it judged. The target is one that is registered, or the path of a
// spec file; the scenario is one that Recount knows, the path of a scenario file, or "" to draw faults from those that
// Faults names.
//
// The subtest fails where "recount run" exits with another status than 0: where a promise broke, where a scenario on its
// own target did not show what it expects, and where nothing was decided. With Seeds there are several subtests, and the
// last run is returned. Run returns nil where no run was made.
func Run(t *testing.T, target, scenario string, options ...Option) *record.Run {
	t.Helper()
	c := config{attempts: 1}
	for _, o := range options {
		o(&c)
	}
	plans, err := c.plans(target, scenario)
	if err != nil {
		fatal(t, err)
	}
	repeat := command()
	var last *record.Run
	for _, p := range plans {
		t.Run(c.name(target, scenario, p.Seed), func(t *testing.T) { last = c.run(t, p, repeat) })
	}
	return last
}

// run makes one run, again if need be, and judges the test by it.
func (c *config) run(t *testing.T, plan record.Plan, repeat func(name string) string) *record.Run {
	executable := ""
	if plan.On == record.OnDocker {
		needEngine(t)
		executable = static(t)
	}
	artifacts := keepsArtifacts()
	folder := t.TempDir()
	if artifacts {
		folder = t.ArtifactDir()
	}
	for attempt := 1; ; attempt++ {
		r, err := harness.Run(t.Context(), plan, harness.Config{
			Results: folder, Repeat: repeat(t.Name()), Executable: executable, Progress: func(line string) { t.Log(line) },
		})
		if err != nil && !artifacts {
			err = c.rescued(t.Context(), err, folder, plan.Target)
		}
		if err != nil {
			fatal(t, err)
		}
		if attempt < c.attempts && worthAnother(r) {
			t.Logf("attempt %d of %d: %s", attempt, c.attempts, report.Sentence(r))
			continue
		}
		c.conclude(t, r, artifacts)
		return r
	}
}

// rescued moves what a run of a target that failed has left in a folder of the test's to where it outlives the test, and has its error
// name that place.
func (c *config) rescued(ctx context.Context, failed error, folder, target string) error {
	left, err := os.Readlink(filepath.Join(folder, "latest"))
	if err != nil {
		return failed // it has left nothing
	}
	r := &record.Run{Target: target, Dir: filepath.Join(folder, left)}
	was := r.Dir
	if err := harness.Keep(ctx, r, cmp.Or(c.results, "results")); err != nil {
		return errors.Join(failed, err)
	}
	if abs, err := filepath.Abs(r.Dir); err == nil {
		r.Dir = abs
	}
	return &moved{failed, strings.ReplaceAll(failed.Error(), was, r.Dir)}
}

// moved is an error that names another place than it did.
type moved struct {
	error
	text string
}

func (m *moved) Error() string { return m.text }
func (m *moved) Unwrap() error { return m.error }

// conclude keeps the run's folder where somebody may want it, tells what the run came to, and judges the test by it.
func (c *config) conclude(t *testing.T, r *record.Run, artifacts bool) {
	held := r.Status == record.StatusHeld
	if !held && !artifacts {
		if err := harness.Keep(t.Context(), r, cmp.Or(c.results, "results")); err != nil {
			t.Error(err)
		}
	}
	if abs, err := filepath.Abs(r.Dir); err == nil {
		r.Dir = abs
	}
	shown := *r
	if held && !artifacts {
		shown.Dir = "" // it goes with the test
	}
	var b bytes.Buffer
	if err := report.Text(&b, &shown, false); err != nil {
		t.Error(err)
	}
	t.Log("\n" + b.String())
	switch r.Status {
	case record.StatusHeld:
	case record.StatusBroken:
		t.Errorf("recount: %s\nreproduce with: %s", report.Sentence(r), r.Repeat)
	default:
		t.Errorf("recount: nothing is decided: %s\nreproduce with: %s", report.Sentence(r), r.Repeat)
	}
}

// worthAnother reports whether a run decided nothing, or failed only to show a violation that was expected.
func worthAnother(r *record.Run) bool {
	notShown := false
	for i := range r.Verdicts {
		switch r.Verdicts[i].Meaning() {
		case record.Broken, record.Violated:
			return false
		case record.NotShown:
			notShown = true
		}
	}
	return notShown || r.Status == record.StatusUnknown
}

// fatal ends a test that could not be made, with the way out.
func fatal(t *testing.T, err error) {
	t.Helper()
	text := fmt.Sprintf("recount: %v", err)
	if h := hint.Spelled(err, spell); h != "" {
		text += "\nhint: " + h
	}
	t.Fatal(text)
}
