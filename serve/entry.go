package serve

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"recount/checkers"
	"recount/harness"
	"recount/harness/record"
	"recount/history"
	"recount/internal/count"
	"recount/internal/hint"
	"recount/nemesis"
	"recount/report"
)

// State is what is known of a run at a glance.
type State string

// The states.
const (
	UnderWay   State = "under way"  // its history grows
	Held       State = "held"       // every promise held, or what was expected happened
	Broken     State = "broken"     // a promise broke, or what was expected did not happen
	Unknown    State = "unknown"    // it decides nothing
	CutShort   State = "cut short"  // nobody judged it, and nobody writes to it any more
	Unreadable State = "unreadable" // its files are not what a run's are
)

// states are all of them, in the order in which filters offer them.
var states = []State{UnderWay, Broken, Unknown, Held, CutShort, Unreadable}

// Run is a run as the index knows it, without its history.
type Run struct {
	ID       string            `json:"id"` // its folder within the results, with slashes
	Title    string            `json:"title"`
	Target   string            `json:"target"`
	Options  map[string]string `json:"options,omitempty"`
	Cluster  string            `json:"cluster"`
	Nodes    int               `json:"nodes"`
	Seed     uint64            `json:"seed"`
	Started  time.Time         `json:"started"`
	Took     time.Duration     `json:"took"` // nanoseconds of real time
	State    State             `json:"state"`
	Sentence string            `json:"sentence"`
	Version  string            `json:"version,omitempty"` // of the Recount that made it
	Repeat   string            `json:"repeat,omitempty"`
	Verdicts []Verdict         `json:"verdicts"`
	Of       string            `json:"of,omitempty"`    // the folder of the matrix, suite or campaign that it belongs to
	Under    string            `json:"under,omitempty"` // the faults that it drew from, if no scenario names them

	chosen   map[string]string // of Options, those that are not the target's defaults
	recipe   string            // the same for runs that differ in their seed alone
	schedule nemesis.Schedule
	stamp    stamp
}

// Verdict is one verdict of a run, and what it means for it.
type Verdict struct {
	Property string           `json:"property"`
	Verdict  checkers.Verdict `json:"verdict"`
	Kind     Kind             `json:"kind,omitempty"` // of a violation
	Why      string           `json:"why,omitempty"`
}

// Kind is what a violation is to its target.
type Kind string

// The kinds of violations.
const (
	Promise  Kind = "promise broken"
	Refuted  Kind = "promise not known" // of what may have been promised: the target is not known here
	Expected Kind = "as expected"       // what a scenario is there to show
	Weakness Kind = "known weakness"    // of what nobody had promised
)

// kinds are all of them, the worst first.
var kinds = []Kind{Promise, Refuted, Expected, Weakness}

func kindOf(v *record.Verdict) Kind {
	switch m := v.Meaning(); {
	case v.Verdict != checkers.Invalid:
		return ""
	case m.Fails():
		return Promise
	case m == record.Refuted:
		return Refuted
	case m == record.Met:
		return Expected
	}
	return Weakness
}

// Chosen are those of the run's options that are not its target's defaults: one that is replayed names them all.
func (r *Run) Chosen() map[string]string { return r.chosen }

// Foreign reports whether another version of Recount made the run.
func (r *Run) Foreign() bool { return r.Version != harness.Version }

// Violations are the verdicts that found one, the worst first.
func (r *Run) Violations() (all []Verdict) {
	for _, k := range kinds {
		for _, v := range r.Verdicts {
			if v.Kind == k {
				all = append(all, v)
			}
		}
	}
	return all
}

// Tone is the style that goes with what came of the run.
func (r *Run) Tone() string {
	if r.State == Held && len(r.Violations()) > 0 { // green would say that all was well
		return "weak"
	}
	return r.State.tone()
}

// tone is the style that goes with a state.
func (s State) tone() string {
	switch s {
	case Held:
		return "held"
	case Broken, Unreadable:
		return "broken"
	case UnderWay:
		return "live"
	}
	return "open"
}

// Mark is the run's state in one character.
func (r *Run) Mark() string {
	if r.Tone() == "weak" {
		return "!"
	}
	return map[State]string{UnderWay: "●", Held: "✓", Broken: "✕", Unknown: "?", CutShort: "…", Unreadable: "!"}[r.State]
}

// stamp tells whether the files of a run have changed.
type stamp struct {
	run, verdicts time.Time
	size          int64
}

const (
	quiet = 30 * time.Second // how long nobody must have written to a history for its run to count as killed
	setUp = 15 * time.Minute // the same before its first op: images may be built
)

// readRun reads what the index keeps of a run. It returns nil for a folder that is no run's.
func readRun(results fs.FS, dir string, now time.Time) *Run {
	info, err := fs.Stat(results, path.Join(dir, record.RunFile))
	if err != nil {
		return nil
	}
	folder, err := fs.Sub(results, dir)
	if err != nil {
		return nil
	}
	run := &Run{ID: dir, stamp: stampOf(results, dir), Verdicts: []Verdict{}}
	r, err := record.OutlineFS(folder)
	if err != nil {
		run.State, run.Title, run.Started, run.Sentence = Unreadable, path.Base(dir), info.ModTime(), problem(err)
		return run
	}
	run.Title, run.Target, run.Options, run.Cluster, run.Nodes = r.Title, targetOf(r), r.Plan.Options, r.Cluster, len(r.Nodes)
	if r.Title == r.Target {
		run.Title = run.Target
	}
	run.chosen = harness.Chosen(r.Target, r.Cluster, r.Plan.Options)
	run.Seed, run.Started, run.Took, run.Version, run.Repeat = r.Seed, r.Started, r.Took, r.Version, r.Repeat
	run.schedule = r.Plan.Schedule
	faults := strings.Join(r.Plan.Faults, ", ")
	run.recipe = run.Title + "\n" + faults
	if n := len(r.Plan.Faults); r.Title == r.Target && n > 3 {
		run.Under = count.Of(n, "fault")
	} else if r.Title == r.Target {
		run.Under = faults
	}
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		run.Verdicts = append(run.Verdicts, Verdict{v.Property, v.Verdict, kindOf(v), v.Why})
	}
	run.State, run.Sentence = stateOf(r, run.stamp, folder, now)
	return run
}

// targetOf is what a run's target is called here: one that a file describes by the file's path from the current folder, or by its whole path
// if that leads out of there, whichever path it was given by.
func targetOf(r *record.Run) string {
	if r.DescribedBy == "" {
		return r.Target
	}
	resolved := func(path string) string {
		if to, err := filepath.EvalSymlinks(path); err == nil { // else it is gone since
			return to
		}
		return path
	}
	file := resolved(r.DescribedBy)
	if here, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(resolved(here), file); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return file
}

func stampOf(results fs.FS, dir string) (s stamp) {
	if info, err := fs.Stat(results, path.Join(dir, record.RunFile)); err == nil {
		s.run, s.size = info.ModTime(), info.Size()
	}
	if info, err := fs.Stat(results, path.Join(dir, record.VerdictsFile)); err == nil {
		s.verdicts = info.ModTime()
	}
	return s
}

func stateOf(r *record.Run, s stamp, folder fs.FS, now time.Time) (State, string) {
	if s.verdicts.IsZero() && r.Status == record.StatusFailed {
		why := "The harness or the engine failed; this says nothing about the target."
		if n := len(r.Notes); n > 0 {
			why = "It could not be made to its end: " + r.Notes[n-1] + "."
		}
		return CutShort, why
	}
	if s.verdicts.IsZero() {
		last, silence, way := s.run, setUp, ""
		for _, name := range []string{record.HistoryFile, record.HistoryFile + record.Compressed} {
			info, err := fs.Stat(folder, name)
			if err != nil {
				continue
			}
			way = " recount report judges it."
			if info.Size() > 0 {
				silence = quiet
			}
			if info.ModTime().After(last) {
				last = info.ModTime()
			}
		}
		if now.Sub(last) < silence {
			return UnderWay, "Under way."
		}
		return CutShort, "Nothing was written to it for a while, and nobody has judged it: it was killed, or stands still." + way
	}
	switch r.Status {
	case record.StatusHeld:
		return Held, report.Sentence(r)
	case record.StatusBroken:
		return Broken, report.Sentence(r)
	case record.StatusUnknown:
		return Unknown, cmp.Or(report.Missing(r), "The run decides nothing: its page says why.")
	}
	return Unreadable, fmt.Sprintf("Its status is %d, which no run ends with.", r.Status)
}

// problem is an error in reading the run as one line for a person: of one that has no history, why that is, as far as it is known.
func (r *Run) problem(err error) string {
	if !noHistory(err) {
		return problem(err)
	}
	switch r.State {
	case UnderWay:
		return "It has written no history yet."
	case CutShort:
		return "It kept no history. " + r.Sentence
	}
	return "It was judged, and its history is not in its folder any more."
}

// noHistory reports whether an error is that a run has none.
func noHistory(err error) bool {
	missing, ok := errors.AsType[*fs.PathError](err)
	return ok && errors.Is(err, fs.ErrNotExist) && strings.TrimSuffix(path.Base(missing.Path), record.Compressed) == record.HistoryFile
}

// problem is an error in reading files as one line for a person.
func problem(err error) string {
	if file, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, fs.ErrNotExist) && path.Base(file.Path) == record.RunFile {
		return "Its folder is gone, or has no " + record.RunFile + " any more."
	} else if ok {
		return fmt.Sprintf("Its %s cannot be read: %v.", path.Base(file.Path), file.Err)
	}
	if _, ops := errors.AsType[*history.SyntaxError](err); ops {
		return "Its history cannot be read: " + hint.Line(err) + "."
	}
	if _, text := errors.AsType[*json.SyntaxError](err); text {
		return "A file of it is no JSON: " + strings.TrimPrefix(err.Error(), "read ") + "."
	}
	return err.Error() + "."
}

// repeats returns of runs, the newest first, those that are a replay of an older one, or a part of it: of the same target, options,
// nodes, seed and faults. The oldest is what they repeat.
func repeats(runs []*Run) map[*Run]*Run {
	oldest, all := map[string]*Run{}, map[*Run]*Run{}
	for _, r := range slices.Backward(runs) {
		if r.Target == "" {
			continue
		}
		key := fmt.Sprintf("%q %q %d %d", signature(r, r.recipe), r.Cluster, r.Nodes, r.Seed)
		if first := oldest[key]; first != nil {
			all[r] = first
		} else {
			oldest[key] = r
		}
	}
	return all
}

// newest orders runs from the newest to the oldest.
func newest(runs []*Run) []*Run {
	slices.SortStableFunc(runs, func(a, b *Run) int {
		if c := b.Started.Compare(a.Started); c != 0 {
			return c
		}
		return strings.Compare(b.ID, a.ID)
	})
	return runs
}
