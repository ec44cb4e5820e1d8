package nemesis

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"recount/internal/hint"
	"recount/internal/option"
	"recount/internal/strict"
)

// Schedule is what the nemesis is to do, as data. Its times count from when the cluster has settled on its first leader.
type Schedule []Step

// Step fires one fault: at a time, or with a cue, after what is seen next from that time on.
//
// Elections break where a fault lasts, or comes, as long as they wait for each other. So both times of a step may be
// given as multiples of the target's silence: of how long a node hears nothing of its leader before it acts, be that
// an election timeout or a lease; or of another time that is an option of the target.
type Step struct {
	At time.Duration `yaml:"at" json:"at"`
	// After is what it waits for; "" is nothing. From then to the fault pass Wait, or Times silences.
	After Cue           `yaml:"after,omitempty" json:"after,omitempty"`
	Wait  time.Duration `yaml:"wait,omitempty" json:"wait,omitempty"`
	Times float64       `yaml:"times,omitempty" json:"times,omitempty"`
	Fault string        `yaml:"fault" json:"fault"`
	// Nodes are words, one for each aim of the fault; its defaults stand for those that are missing.
	Nodes Named `yaml:"nodes,omitempty" json:"nodes,omitempty"`
	// Partition is the short way to write the fault of that name: its sides. See Expanded.
	Partition Named `yaml:"partition,omitempty" json:"-"`
	// For is how long it lasts, or ForTimes as a number of silences; with neither it lasts until the run ends.
	For      time.Duration `yaml:"for,omitempty" json:"for,omitempty"`
	ForTimes float64       `yaml:"for-times,omitempty" json:"for-times,omitempty"`
	// Of is the option of the target that Times and ForTimes multiply; without it they multiply the silence.
	Of   string            `yaml:"of,omitempty" json:"of,omitempty"`
	With map[string]string `yaml:"with,omitempty" json:"with,omitempty"` // the fault's options
	// Place is where a file has the step, for errors: "mine.yaml: line 7". One that no file has is told by its number.
	Place string `yaml:"-" json:"-"`
}

// at is what errors call the i-th step of a schedule.
func (st Step) at(i int) string {
	if st.Place == "" {
		return fmt.Sprintf("step %d", i+1)
	}
	return fmt.Sprintf("%s: step %d", st.Place, i+1)
}

// Named are words for nodes, or names of nodes. Where one place is for several nodes, their names are one word with commas;
// a file may have a list there: nodes: [[n1, n4], n2].
type Named []string

// UnmarshalYAML reads words and lists of names.
func (w *Named) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.SequenceNode {
		return strict.Fill(n, (*[]string)(w)) // which says what is wanted
	}
	*w = nil
	for _, p := range n.Content {
		names := []string{p.Value}
		if p.Kind != yaml.ScalarNode {
			if err := strict.Fill(p, &names); err != nil {
				return err
			}
		}
		*w = append(*w, strings.Join(names, ","))
	}
	return nil
}

// Expanded returns the schedule with what is written in a short way as the fault that it stands for:
// partition: [[n1, n4], [n2, n3]].
func (s Schedule) Expanded() (Schedule, error) {
	all := slices.Clone(s)
	for i := range all {
		st := &all[i]
		if st.Partition == nil {
			continue
		}
		if st.Fault != "" || st.Nodes != nil {
			return nil, hint.Add(fmt.Errorf("%s: a partition beside fault or nodes", st.at(i)), "partition: [[n1, n4], [n2, n3]] says both")
		}
		st.Fault, st.Nodes, st.Partition = "partition", st.Partition, nil
	}
	return all, nil
}

// Timed returns the schedule with all multiples worked out. unit is the duration that an option of the target has, and
// of "" the target's silence.
func (s Schedule) Timed(unit func(of string) (time.Duration, error)) (Schedule, error) {
	timed := slices.Clone(s)
	for i := range timed {
		st := &timed[i]
		if st.Times == 0 && st.ForTimes == 0 {
			continue
		}
		d, err := unit(st.Of)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", st.at(i), err)
		}
		if st.Times != 0 {
			if st.Wait, err = multiple(st.Times, d); err != nil {
				return nil, fmt.Errorf("%s: times: %w", st.at(i), err)
			}
		}
		if st.ForTimes != 0 {
			if st.For, err = multiple(st.ForTimes, d); err != nil {
				return nil, fmt.Errorf("%s: for-times: %w", st.at(i), err)
			}
		}
	}
	return timed, nil
}

// Untimed returns the schedule as a file has it: without what its multiples were worked out to, by Timed.
func (s Schedule) Untimed() Schedule {
	written := slices.Clone(s)
	for i := range written {
		st := &written[i]
		if st.Times != 0 {
			st.Wait = 0
		}
		if st.ForTimes != 0 {
			st.For = 0
		}
	}
	return written
}

// longest is more than any run lasts. Sums of a few such times are times still.
const longest = 10_000 * time.Hour

// multiple is times of what somebody may have written.
func multiple(f float64, d time.Duration) (time.Duration, error) {
	if !(math.Abs(f)*float64(d) <= float64(longest)) {
		return 0, hint.Add(fmt.Errorf("%v times %v is longer than any run", f, d), "take a number such as 1.5")
	}
	return times(f, d), nil
}

func times(f float64, d time.Duration) time.Duration { return time.Duration(f * float64(d)) }

// Clocks tells whether the schedule touches clocks.
func (s Schedule) Clocks() bool { return s.has(func(f *Fault) bool { return f.Clocks }) }

// Disks tells whether the schedule has a fault that needs disks that can fail.
func (s Schedule) Disks() bool { return s.has(func(f *Fault) bool { return f.Disks }) }

// has tells whether the schedule has such a fault.
func (s Schedule) has(such func(*Fault) bool) bool {
	return slices.ContainsFunc(s, func(st Step) bool {
		f, err := Find(st.Fault)
		return err == nil && such(f)
	})
}

// Check finds what is wrong with a schedule for a cluster of these nodes.
func (s Schedule) Check(nodes []string) error {
	for i, st := range s {
		if err := st.check(nodes); err != nil {
			return fmt.Errorf("%s: %w", st.at(i), err)
		}
	}
	return nil
}

func (st Step) check(nodes []string) error {
	f, err := Find(st.Fault)
	if err != nil {
		return err
	}
	if st.At < 0 || st.For < 0 || st.Wait < 0 {
		return hint.Add(fmt.Errorf("%s: at %v, wait %v, for %v", st.Fault, st.At, st.Wait, st.For), "times count forward from when the cluster has settled")
	}
	if err := st.After.check(); err != nil {
		return fmt.Errorf("%s: %w", st.Fault, err)
	}
	if st.After == "" && st.Wait > 0 {
		return hint.Add(fmt.Errorf("%s: it is to wait %v, but after nothing", st.Fault, st.Wait), "say what it waits for: after: election")
	}
	if len(st.Nodes) > len(f.Aims) && !f.Sides {
		way := f.About
		if len(f.Aims) == 1 {
			way += "; a step for each of several, and they may begin at one time"
		}
		return hint.Add(fmt.Errorf("%s: %d nodes: want %d", st.Fault, len(st.Nodes), len(f.Aims)), "%s", way)
	}
	var named []string
	for _, w := range st.Nodes {
		if err := checkWord(w, nodes); err != nil {
			return fmt.Errorf("%s: %w", st.Fault, err)
		}
		if _, part, is := strings.Cut(w, "/"); is && !f.Parts {
			return hint.Add(fmt.Errorf("%s: %s: it is of whole nodes", st.Fault, w), "pause and kill can be of one process of a node, such as %q", part)
		}
		for _, n := range strings.Split(w, ",") {
			if slices.Contains(nodes, n) && slices.Contains(named, n) {
				return hint.Add(fmt.Errorf("%s: %s is named twice", st.Fault, n), "each node has one place")
			}
			named = append(named, n)
		}
	}
	if asked := st.asked(f); len(asked) > 0 && !slices.ContainsFunc(asked, func(w string) bool { return !isOthers(w) }) {
		return hint.Add(fmt.Errorf("%s: others than whom?", st.Fault), "others are all that the step's other words do not name, and it has none; every node is all")
	}
	with, err := option.Parse(st.Fault, f.Options, st.With)
	if err == nil && slices.ContainsFunc(f.Options, func(o option.Option) bool { return o.Name == until.Name }) {
		if d, e := time.ParseDuration(with.Value(until.Name)); e == nil && d <= 0 {
			return hint.Add(fmt.Errorf("%s: until: %v", st.Fault, d), "a message waits for a positive time, such as 1.5s")
		}
	}
	return err
}

// CheckParts finds what is wrong with the parts of nodes that a schedule names, where these are known.
func (s Schedule) CheckParts(known []string) error {
	for i, st := range s {
		for _, w := range st.Nodes {
			_, part, is := strings.Cut(w, "/")
			switch {
			case !is || slices.Contains(known, part):
			case len(known) == 0:
				return hint.Add(fmt.Errorf("%s: %s: nothing is known of a node's processes", st.at(i), w),
					"processes: {%s: {match: PATTERN}} in a spec file names them", part)
			default:
				return fmt.Errorf("%s: %w", st.at(i), hint.Unknown("process of a node", part, known))
			}
		}
	}
	return nil
}

// CheckBlind finds a step with a fault that only makes sense where it is known what messages mean, as of simulated algorithms.
func (s Schedule) CheckBlind() error {
	for i, st := range s {
		f, err := Find(st.Fault)
		if err != nil || !f.Events {
			continue
		}
		with, err := option.Parse(st.Fault, f.Options, st.With)
		if err != nil {
			return fmt.Errorf("%s: %w", st.at(i), err)
		}
		for _, ph := range f.Shape(Scene{Options: with, Aims: [][]string{{"one"}, {"other"}}}).Phases {
			for _, t := range ph.Traps() {
				if err := t.Blind(); err != nil {
					return fmt.Errorf("%s: %s: %w", st.at(i), st.Fault, err)
				}
			}
		}
	}
	return nil
}

// CheckBegins finds a step that a run of that time leaves no time for. One that waits for a cue counts as if it came at once.
func (s Schedule) CheckBegins(run time.Duration) error {
	for i, st := range s {
		if begins := st.At + st.Wait; begins >= run {
			return hint.Add(fmt.Errorf("%s: %s begins at %v, and the run ends at %v", st.at(i), st.Fault, begins, run),
				"take a %v of more than %v, or have it begin sooner", hint.Named("time"), s.End())
		}
	}
	return nil
}

// CheckEnds finds a step that ends later than a run of that time.
func (s Schedule) CheckEnds(run time.Duration) error {
	for i, st := range s {
		if ends := st.At + st.Wait + st.For; ends > run {
			return hint.Add(fmt.Errorf("%s: %s ends at %v, and the run at %v", st.at(i), st.Fault, ends, run), "take a %v of %v or more", hint.Named("time"), s.End())
		}
	}
	return nil
}

// asked returns the step's words, with the fault's own where the step names none.
func (st Step) asked(f *Fault) []string {
	w := slices.Clone(st.Nodes)
	for _, a := range f.Aims[min(len(w), len(f.Aims)):] {
		if a.Default != "" {
			w = append(w, a.Default)
		}
	}
	return w
}

// End is when the last step has healed, 0 for an empty schedule. Steps that never heal count by their start, and those
// that wait for a cue as if it came at once.
func (s Schedule) End() (end time.Duration) {
	for _, st := range s {
		end = max(end, st.At+st.Wait+st.For)
	}
	return end
}
