// Package suite makes all the runs that a team wants made, and tells what is new: targets × scenarios × seeds, with the
// weaknesses that are known and until when they are allowed. A suite is a file that is checked in beside the election.
package suite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"recount/harness"
	"recount/hint"
	"recount/targets"
)

// Suite is a suite file. What it says for all targets and scenarios, each of them may say otherwise.
type Suite struct {
	File      string        `yaml:"-"`
	About     string        `yaml:"about"`
	On        string        `yaml:"on"` // sim or docker
	Nodes     int           `yaml:"nodes"`
	Time      time.Duration `yaml:"time"`
	Seeds     Seeds         `yaml:"seeds"`
	Budget    time.Duration `yaml:"budget"` // of real time; what it leaves undone is told
	Workloads []string      `yaml:"workloads"`
	Ignore    []string      `yaml:"ignore"`  // properties that the suite is not about
	Require   []string      `yaml:"require"` // count as promised by every target
	Targets   []Target      `yaml:"targets"`
	Scenarios []Scenario    `yaml:"scenarios"`
	Known     []Known       `yaml:"known"`
}

// Target is an election that the suite tests: a name, or a mapping.
type Target struct {
	Target  string            `yaml:"target"`
	Name    string            `yaml:"name"` // in reports, and in known; the target's by default
	Options map[string]string `yaml:"options"`
	On      string            `yaml:"on"`
	Nodes   int               `yaml:"nodes"`
	Require []string          `yaml:"require"`
}

// Scenario is what is done to each target: a scenario's name or file, or a mapping, which may draw faults instead.
type Scenario struct {
	Scenario  string        `yaml:"scenario"`
	Name      string        `yaml:"name"` // in reports, and in known; the scenario's by default
	Faults    []string      `yaml:"faults"`
	Nodes     int           `yaml:"nodes"`
	Time      time.Duration `yaml:"time"`
	Seeds     Seeds         `yaml:"seeds"`
	Workloads []string      `yaml:"workloads"`
	Targets   []string      `yaml:"targets"` // the names of those that it is for; none are all
}

// Known is a weakness that is known, and allowed for the time being.
type Known struct {
	Target   string `yaml:"target" json:"target"` // its name in the suite
	Property string `yaml:"property" json:"property"`
	Scenario string `yaml:"scenario" json:"scenario,omitempty"` // "" is any
	Until    Date   `yaml:"until" json:"until"`                 // the last day on which it is allowed
	Reason   string `yaml:"reason" json:"reason"`
}

// Seeds are written as one, as a list, or as a range: 1-20.
type Seeds []uint64

// Date is a day, in UTC.
type Date struct{ time.Time }

func (d Date) String() string { return d.Format(time.DateOnly) }

// MarshalText writes a date as 2027-03-31.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalYAML reads a date.
func (d *Date) UnmarshalYAML(n *yaml.Node) (err error) {
	if d.Time, err = time.Parse(time.DateOnly, n.Value); err != nil {
		return at(n, "until: 2027-03-31", "%q is no date", n.Value)
	}
	return nil
}

// passed reports whether the day is over.
func (d Date) passed(now time.Time) bool { return now.UTC().After(d.AddDate(0, 0, 1)) }

// at is a mistake at a place in the file.
func at(n *yaml.Node, way, format string, args ...any) error {
	return hint.Add(fmt.Errorf("line %d, column %d: %w", n.Line, n.Column, fmt.Errorf(format, args...)), "%s", way)
}

// UnmarshalYAML reads seeds.
func (s *Seeds) UnmarshalYAML(n *yaml.Node) error {
	words := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		words = n.Content
	}
	*s = nil
	for _, w := range words {
		from, to, ranged := strings.Cut(w.Value, "-")
		if !ranged {
			to = from
		}
		first, err := strconv.ParseUint(strings.TrimSpace(from), 10, 64)
		last, err2 := strconv.ParseUint(strings.TrimSpace(to), 10, 64)
		if errors.Join(err, err2) != nil || last < first || last-first >= 1e6 {
			return at(w, "seeds: 1-20, or seeds: [1, 5, 8]", "%q is neither a seed nor a range of seeds", w.Value)
		}
		for seed := first; ; seed++ {
			if *s = append(*s, seed); seed == last {
				break
			}
		}
	}
	return nil
}

// UnmarshalYAML reads a target, of which a word is the name.
func (t *Target) UnmarshalYAML(n *yaml.Node) error {
	type fields Target
	return wordOr(n, &t.Target, (*fields)(t), "target", "name", "options", "on", "nodes", "require")
}

// UnmarshalYAML reads a scenario, of which a word is the name.
func (s *Scenario) UnmarshalYAML(n *yaml.Node) error {
	type fields Scenario
	return wordOr(n, &s.Scenario, (*fields)(s), "scenario", "name", "faults", "nodes", "time", "seeds", "workloads", "targets")
}

// UnmarshalYAML reads a known weakness, whose every field but scenario must be there.
func (k *Known) UnmarshalYAML(n *yaml.Node) error {
	type fields Known
	const way = `{target: raft, property: sticky-leader, until: 2027-03-31, reason: "pre-vote is to come"}`
	if n.Kind != yaml.MappingNode {
		return at(n, way, "a known weakness is a mapping")
	}
	if err := wordOr(n, nil, (*fields)(k), "target", "property", "scenario", "until", "reason"); err != nil {
		return err
	}
	for name, is := range map[string]bool{"target": k.Target != "", "property": k.Property != "", "until": !k.Until.IsZero(),
		"reason": k.Reason != ""} {
		if !is {
			return at(n, way, "a known weakness without %s", name)
		}
	}
	return nil
}

// wordOr reads a single word, or fields of which all are known.
func wordOr(n *yaml.Node, word *string, fields any, known ...string) error {
	if n.Kind == yaml.ScalarNode && word != nil {
		*word = n.Value
		return nil
	}
	for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
		if key := n.Content[i]; !slices.Contains(known, key.Value) {
			return fmt.Errorf("line %d, column %d: %w", key.Line, key.Column, hint.Unknown("field", key.Value, known))
		}
	}
	return n.Decode(fields)
}

// Load reads a suite file, and checks every run of it. Paths in it begin at its folder.
func Load(file string) (*Suite, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, harness.Usage(fmt.Errorf("suite: %w", err))
	}
	s, err := Parse(file, text)
	if err != nil {
		return nil, err
	}
	_, err = s.jobs()
	return s, err
}

// Parse reads the text of a suite file. Its names are not looked up.
func Parse(file string, text []byte) (*Suite, error) {
	s := &Suite{File: file}
	var doc yaml.Node
	err := yaml.Unmarshal(text, &doc)
	if err == nil && len(doc.Content) == 0 {
		err = hint.Add(errors.New("the file says nothing"), "targets: [raft-prevote], scenarios: [ping-pong]")
	}
	if err == nil {
		type fields Suite
		err = wordOr(doc.Content[0], nil, (*fields)(s), "about", "on", "nodes", "time", "seeds", "budget", "workloads", "ignore",
			"require", "targets", "scenarios", "known")
	}
	if err == nil {
		err = s.fill()
	}
	if err != nil {
		return nil, harness.Usage(fmt.Errorf("suite: %s: %w", file, err))
	}
	return s, nil
}

// fill puts names and defaults where the file leaves them out, and finds what does not go together.
func (s *Suite) fill() error {
	if len(s.Targets) == 0 {
		return hint.Add(errors.New("no targets"), "targets: [raft-prevote, ./mine.yaml]")
	}
	if len(s.Scenarios) == 0 {
		return hint.Add(errors.New("no scenarios"), "scenarios: [ping-pong, {name: random, faults: [isolate, kill], time: 1m}]")
	}
	if len(s.Seeds) == 0 {
		s.Seeds = Seeds{1}
	}
	if s.On == "" {
		s.On = harness.OnSim
	}
	var names, titles []string
	for i := range s.Targets {
		t := &s.Targets[i]
		if t.Name == "" {
			t.Name = label(t.Target)
		}
		if t.Target == "" {
			return hint.Add(fmt.Errorf("target %d has no target", i+1), "recount list targets")
		}
		if slices.Contains(names, t.Name) {
			return hint.Add(fmt.Errorf("two targets named %q", t.Name), "give one a name: {target: %s, name: other}", t.Target)
		}
		names = append(names, t.Name)
		if targets.IsFile(t.Target) {
			t.Target = s.path(t.Target)
		}
	}
	for i := range s.Scenarios {
		c := &s.Scenarios[i]
		if (c.Scenario == "") == (len(c.Faults) == 0) {
			return hint.Add(fmt.Errorf("scenario %d: want either a scenario or faults to draw from", i+1),
				"ping-pong, or {name: random, faults: [isolate, kill]}")
		}
		if c.Name == "" {
			if c.Name = label(c.Scenario); c.Scenario == "" {
				c.Name = strings.Join(c.Faults, ",")
			}
		}
		if slices.Contains(titles, c.Name) {
			return hint.Add(fmt.Errorf("two scenarios named %q", c.Name), "give one a name: {scenario: %s, name: other}", c.Scenario)
		}
		titles = append(titles, c.Name)
		if targets.IsFile(c.Scenario) {
			c.Scenario = s.path(c.Scenario)
		}
		for _, t := range c.Targets {
			if !slices.Contains(names, t) {
				return fmt.Errorf("scenario %s: %w", c.Name, hint.Unknown("target of the suite", t, names))
			}
		}
	}
	for _, property := range slices.Concat(s.Ignore, s.Require) {
		if err := harness.KnownProperty(property); err != nil {
			return err
		}
	}
	for _, k := range s.Known {
		if !slices.Contains(names, k.Target) {
			return fmt.Errorf("known: %w", hint.Unknown("target of the suite", k.Target, names))
		}
		if k.Scenario != "" && !slices.Contains(titles, k.Scenario) {
			return fmt.Errorf("known: %w", hint.Unknown("scenario of the suite", k.Scenario, titles))
		}
		if err := harness.KnownProperty(k.Property); err != nil {
			return fmt.Errorf("known: %w", err)
		}
	}
	return nil
}

// label is what reports call a target or a scenario: its name, or that of its file.
func label(word string) string {
	if targets.IsFile(word) {
		return strings.TrimSuffix(filepath.Base(word), filepath.Ext(word))
	}
	return word
}

// path is one that is given in the suite's file.
func (s *Suite) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	if p = filepath.Join(filepath.Dir(s.File), p); !strings.ContainsRune(p, filepath.Separator) {
		p = "." + string(filepath.Separator) + p
	}
	return p
}
