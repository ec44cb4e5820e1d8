// Package campaign makes hunts of thousands of runs each, on one machine or on many, and tells what they found: each finding
// once, with its rate, and what is new of it since the last time. A campaign is a file that is checked in beside the election.
//
// It is cut into shards, which are data. A shard's result depends on nothing else, so the same file finds the same on one
// process and on fifty machines, and what was done is not done again.
package campaign

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"recount/harness"
	"recount/harness/hunt"
	"recount/harness/record"
	"recount/internal/hint"
	"recount/internal/strict"
	"recount/targets"
	"recount/workloads"
)

// Campaign is a campaign file. What it says for all targets, each of them may say otherwise.
type Campaign struct {
	Name      string        `yaml:"name" json:"name"` // of its folder below results/campaigns; the file's by default
	About     string        `yaml:"about" json:"about,omitempty"`
	Targets   []Target      `yaml:"targets" json:"targets"`
	Faults    []string      `yaml:"faults" json:"faults"`       // to draw from; all of them by default
	Workloads []string      `yaml:"workloads" json:"workloads"` // what clients do
	Property  string        `yaml:"property" json:"property,omitempty"`
	Nodes     Sizes         `yaml:"nodes" json:"nodes"`
	Time      time.Duration `yaml:"time" json:"time,omitempty"` // of each run
	On        string        `yaml:"on" json:"on"`
	Seed      uint64        `yaml:"seed" json:"seed"`
	Runs      int           `yaml:"runs" json:"runs"`               // of each target
	Budget    time.Duration `yaml:"budget" json:"budget,omitempty"` // of real time; what it leaves undone is told
	Shard     int           `yaml:"shard" json:"shard"`             // runs of one shard
	Known     []Known       `yaml:"known" json:"known,omitempty"`
}

// Target is an election to be hunted: a name, or a mapping.
type Target struct {
	Target   string            `yaml:"target" json:"target"`
	Name     string            `yaml:"name" json:"name"` // in reports; the target's by default
	Version  string            `yaml:"version" json:"version,omitempty"`
	Options  map[string]Values `yaml:"options" json:"options,omitempty"` // to draw each from
	Property string            `yaml:"property" json:"property,omitempty"`
	Faults   []string          `yaml:"faults" json:"faults,omitempty"`
	Nodes    Sizes             `yaml:"nodes" json:"nodes,omitzero"`
	On       string            `yaml:"on" json:"on,omitempty"`
	Runs     int               `yaml:"runs" json:"runs,omitempty"`

	built map[string][]string // see Subject
}

// knows reports whether the file names a target's weakness.
func (c *Campaign) knows(target, property string) bool {
	return slices.ContainsFunc(c.Known, func(k Known) bool { return k.Target == target && k.Property == property })
}

// Known is a weakness that is known: a finding of it does not fail the campaign.
type Known struct {
	Target   string `yaml:"target" json:"target"` // its name in the campaign
	Property string `yaml:"property" json:"property"`
	Reason   string `yaml:"reason" json:"reason"`
}

// Sizes are the smallest and the largest cluster, written as 3-7 or 5.
type Sizes [2]int

// Values are written as one or as a list.
type Values []string

// UnmarshalYAML reads sizes.
func (s *Sizes) UnmarshalYAML(n *yaml.Node) error {
	from, to, ranged := strings.Cut(n.Value, "-")
	if !ranged {
		to = from
	}
	var err, err2 error
	s[0], err = strconv.Atoi(strings.TrimSpace(from))
	s[1], err2 = strconv.Atoi(strings.TrimSpace(to))
	if errors.Join(err, err2) != nil || s[0] > s[1] {
		return strict.At(n, hint.Add(fmt.Errorf("%q is neither a size nor a range of sizes", n.Value), "nodes: 3-7"))
	}
	return nil
}

// UnmarshalYAML reads values.
func (v *Values) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*v = Values{n.Value}
		return nil
	}
	return strict.Fill(n, (*[]string)(v))
}

// UnmarshalYAML reads a target, of which a word is the name.
func (t *Target) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*t = Target{Target: n.Value}
		return nil
	}
	type fields Target
	return strict.Fill(n, (*fields)(t))
}

// The defaults of a campaign file.
const (
	defaultRuns  = 10_000
	defaultShard = 500
)

// The most that a campaign file may ask for. The numbers of a shard's runs have so many bits: see Shard.number.
const (
	maxShard = 1 << 20
	maxRuns  = 1 << 40
)

// Load reads a campaign file, and checks all that it names. Paths in it begin at its folder.
func Load(file string) (*Campaign, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, harness.Usage(hint.Add(fmt.Errorf("read the campaign: %w", err), "name a campaign's YAML file: targets, faults, how many runs"))
	}
	c := &Campaign{}
	if _, err = strict.Decode(text, c); err == nil {
		err = c.fill(file)
	}
	if err == nil {
		err = c.Check()
	}
	if err != nil {
		return nil, harness.Usage(fmt.Errorf("%s: %w", file, err))
	}
	return c, nil
}

// fill puts in what the file leaves out.
func (c *Campaign) fill(file string) error {
	if len(c.Targets) == 0 {
		return hint.Add(errors.New("no targets"), "targets: [raft-prevote, {target: raft, options: {scale: [1, 2]}}]")
	}
	c.Name = cmp.Or(c.Name, targets.Stem(file))
	c.On = cmp.Or(c.On, record.OnSim)
	c.Shard = cmp.Or(c.Shard, defaultShard)
	if c.Runs == 0 && c.Budget == 0 {
		c.Runs = defaultRuns
	}
	if len(c.Faults) == 0 {
		c.Faults = []string{"all"}
	}
	for i := range c.Targets {
		t := &c.Targets[i]
		if t.Target == "" {
			return hint.Add(fmt.Errorf("target %d has no target", i+1), "recount list targets")
		}
		if t.Version != "" {
			t.Options = maps.Clone(t.Options)
			if t.Options == nil {
				t.Options = map[string]Values{}
			}
			t.Options["version"] = Values{t.Version}
		}
		if targets.IsFile(t.Target) && !filepath.IsAbs(t.Target) {
			t.Target = filepath.Join(filepath.Dir(file), t.Target)
		}
		if t.Name == "" {
			t.Name = targets.Label(t.Target)
		}
		if v := t.Options["version"]; len(v) == 1 {
			t.Version = v[0]
		}
		t.On = cmp.Or(t.On, c.On)
		t.Property = cmp.Or(t.Property, c.Property)
		t.Runs = cmp.Or(t.Runs, c.Runs)
		if t.Nodes == (Sizes{}) {
			t.Nodes = c.Nodes
		}
		if t.Nodes == (Sizes{}) {
			t.Nodes = usual(t.Target)
		}
		if t.Faults == nil {
			t.Faults = c.Faults
		}
		if slices.Contains(t.Faults, "all") {
			t.Faults = hunt.Faults(t.Target, t.On)
		}
	}
	return nil
}

// Check finds what is wrong with a campaign, so that every shard of it can be made.
func (c *Campaign) Check() error {
	if c.Name == "" || c.Name != filepath.Base(c.Name) || strings.HasPrefix(c.Name, ".") {
		return hint.Add(fmt.Errorf("name %q: it is to name a folder", c.Name), "name: nightly")
	}
	for _, field := range []struct {
		name string
		n    int
	}{{"runs", c.Runs}, {"shard", c.Shard}, {"budget", int(c.Budget)}, {"time", int(c.Time)}} {
		if field.n < 0 {
			return hint.Add(fmt.Errorf("%s: less than none", field.name), "leave it out for the default")
		}
	}
	if strings.Contains(c.Name, "@") {
		return hint.Add(fmt.Errorf("name %q: behind an @ stands which edition is meant", c.Name), "name: nightly")
	}
	if c.Shard > maxShard {
		return hint.Add(fmt.Errorf("shard: %d runs, and %d are the most", c.Shard, maxShard), "leave it out for %d", defaultShard)
	}
	var names []string
	for i := range c.Targets {
		t := &c.Targets[i]
		if slices.Contains(names, t.Name) {
			return hint.Add(fmt.Errorf("two targets named %q", t.Name), "give one a name: {target: %s, name: other}", t.Target)
		}
		names = append(names, t.Name)
		if t.Runs < 0 || t.Runs > maxRuns {
			return hint.Add(fmt.Errorf("%s: %d runs: want none to %d", t.Name, t.Runs, maxRuns), "leave it out for those of the campaign")
		}
		if err := c.config(t).Check(); err != nil {
			return fmt.Errorf("%s: %w", t.Name, hint.InFile(err))
		}
	}
	for _, k := range c.Known {
		if !slices.Contains(names, k.Target) {
			return fmt.Errorf("known: %w", hint.Unknown("target of the campaign", k.Target, names))
		}
		if err := harness.KnownProperty(k.Property); err != nil {
			return fmt.Errorf("known: %w", err)
		}
	}
	return nil
}

// workloads are those of a target's runs.
func (c *Campaign) workloads(t *Target) []string {
	words := c.Workloads
	if words == nil {
		words = workloads.Serving(t.Property)
	}
	if known, err := targets.Find(t.Target); err == nil && c.Workloads == nil {
		words = harness.Applicable(words, known)
	}
	return words
}

// usual are the sizes of a target's clusters where nobody says.
func usual(target string) Sizes {
	if t, err := targets.Find(target); err == nil && t.Size > 0 {
		return Sizes{t.Size, t.Size}
	}
	return Sizes{3, 7}
}
