package suite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"recount/harness"
	"recount/harness/record"
	"recount/internal/hint"
	"recount/internal/strict"
	"recount/targets"
)

// Load reads a suite file, and checks every run of it. Paths in it begin at its folder.
func Load(file string) (*Suite, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		way := "name a suite's YAML file: targets, scenarios, seeds"
		if t, unknown := targets.Find(file); unknown == nil && !targets.IsFile(file) {
			way = fmt.Sprintf("%s is a target, and a suite is a file that lists some; without one: recount run --target %s --nemesis all", t.Name, t.Name)
		}
		return nil, harness.Usage(hint.Add(fmt.Errorf("read the suite: %w", err), "%s", way))
	}
	s, err := parse(file, text)
	if err != nil {
		return nil, err
	}
	_, err = s.jobs()
	return s, err
}

// parse reads the text of a suite file. Its names are not looked up.
func parse(file string, text []byte) (*Suite, error) {
	s := &Suite{File: file}
	root, err := strict.Decode(text, s)
	if err == nil && root == nil {
		err = hint.Add(strict.ErrEmpty, "targets: [raft-prevote], scenarios: [ping-pong]")
	}
	if err == nil {
		err = s.fill()
	}
	if err == nil {
		err = s.consistent(root)
	}
	if err != nil {
		return nil, harness.Usage(fmt.Errorf("%s: %w", file, err))
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
		s.On = record.OnSim
	}
	names, err := s.fillTargets()
	if err != nil {
		return err
	}
	scenarios, err := s.fillScenarios(names)
	if err != nil {
		return err
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
		if k.Scenario != "" && !slices.Contains(scenarios, k.Scenario) {
			return fmt.Errorf("known: %w", hint.Unknown("scenario of the suite", k.Scenario, scenarios))
		}
		if err := harness.KnownProperty(k.Property); err != nil {
			return fmt.Errorf("known: %w", err)
		}
	}
	return nil
}

// consistent finds what a file, given as YAML too, both requires and ignores.
func (s *Suite) consistent(root *yaml.Node) error {
	for i, property := range s.Ignore {
		by := slices.IndexFunc(s.Targets, func(t Target) bool { return slices.Contains(t.Require, property) })
		if by < 0 && !slices.Contains(s.Require, property) {
			continue
		}
		of := "every target"
		if by >= 0 {
			of = s.Targets[by].Name
		}
		return at(ignored(root, i), "leave it out here, or there: what is ignored decides nothing",
			"ignore: %s is required of %s", property, of)
	}
	return nil
}

// ignored is the place of entry i of what the file ignores, the whole file if aliases hide it.
func ignored(root *yaml.Node, i int) *yaml.Node {
	if all := strict.Entries(root, "ignore"); i < len(all) {
		return all[i]
	}
	return root
}

// fillTargets returns the names of the targets.
func (s *Suite) fillTargets() (names []string, err error) {
	for i := range s.Targets {
		t := &s.Targets[i]
		if t.Target == "" {
			return nil, hint.Add(fmt.Errorf("target %d has no target", i+1), "recount list targets")
		}
		given := t.Target
		if targets.IsFile(t.Target) {
			t.Target = s.path(t.Target)
		}
		if t.Name == "" {
			t.Name = targets.Label(t.Target)
		}
		if slices.Contains(names, t.Name) {
			return nil, hint.Add(fmt.Errorf("two targets named %q", t.Name), "give one a name: {target: %s, name: other}", given)
		}
		names = append(names, t.Name)
	}
	return names, nil
}

// fillScenarios returns the names of the scenarios, given those of the targets.
func (s *Suite) fillScenarios(targetNames []string) (names []string, err error) {
	for i := range s.Scenarios {
		c := &s.Scenarios[i]
		if (c.Scenario == "") == (len(c.Faults) == 0) {
			return nil, hint.Add(fmt.Errorf("scenario %d: want either a scenario or faults to draw from", i+1),
				"ping-pong, or {name: random, faults: [isolate, kill]}")
		}
		if c.Name == "" {
			switch c.Name = c.Scenario; {
			case c.Scenario == "":
				c.Name = strings.Join(c.Faults, ",")
			case targets.IsFile(c.Scenario):
				c.Name = targets.Stem(c.Scenario)
			}
		}
		if slices.Contains(names, c.Name) {
			return nil, hint.Add(fmt.Errorf("two scenarios named %q", c.Name), "give one a name: {scenario: %s, name: other}", c.Scenario)
		}
		names = append(names, c.Name)
		if targets.IsFile(c.Scenario) {
			c.Scenario = s.path(c.Scenario)
		}
		for _, t := range c.Targets {
			if !slices.Contains(targetNames, t) {
				return nil, fmt.Errorf("scenario %s: %w", c.Name, hint.Unknown("target of the suite", t, targetNames))
			}
		}
	}
	return names, nil
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
