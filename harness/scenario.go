package harness

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"recount/checkers"
	"recount/harness/record"
	"recount/internal/hint"
	"recount/internal/strict"
	"recount/nemesis"
	"recount/scenarios"
	"recount/targets"
	"recount/targets/specfile"
)

// Scenario is a recipe for a run, as a YAML file has it. What it leaves out is decided by the command line or by
// defaults.
type Scenario struct {
	Name      string            `yaml:"-"`
	About     string            `yaml:"about,omitempty"`
	Source    string            `yaml:"source,omitempty"`
	Target    string            `yaml:"target,omitempty"`
	Options   map[string]string `yaml:"options,omitempty"`
	Nodes     int               `yaml:"nodes,omitempty"`
	Time      time.Duration     `yaml:"time,omitempty"` // from the first leader to the final healing
	Seed      *uint64           `yaml:"seed,omitempty"` // of a run whose command line gives none; without it, any
	Workloads []string          `yaml:"workloads,omitempty"`
	Schedule  nemesis.Schedule  `yaml:"schedule,omitempty"`
	// Goroutines is the order in which goroutines go on, for runs with real servers in virtual time.
	Goroutines string `yaml:"goroutines,omitempty"`
	// Expect are the verdicts that the scenario is there to show on its own target.
	Expect map[string]checkers.Verdict `yaml:"expect,omitempty"`
	// Require are the properties that must hold on its own target, promised or not.
	Require []string `yaml:"require,omitempty"`
}

// LoadScenario finds a scenario by its name, or reads one from a file: a word that ends in .yaml or has a slash in it.
func LoadScenario(word string) (*Scenario, error) {
	s, err := loadScenario(word)
	return s, Usage(err)
}

func loadScenario(word string) (*Scenario, error) {
	text, known := scenarios.Read(word)
	name := word
	if !known {
		if !strings.ContainsRune(word, filepath.Separator) && filepath.Ext(word) != ".yaml" {
			return nil, hint.Unknown("scenario", word, scenarios.Names())
		}
		var err error
		if text, err = os.ReadFile(word); err != nil {
			return nil, hint.Add(fmt.Errorf("read scenario: %w", err), "recount list scenarios names those that need no file")
		}
		name = strings.TrimSuffix(filepath.Base(word), ".yaml")
	}
	s := &Scenario{Name: name}
	root, err := strict.Decode(text, s)
	if err != nil {
		if _, e := specfile.Load(word); !known && e == nil {
			return nil, hint.Add(fmt.Errorf("%s describes a target, not a scenario", word), "recount run --target %s --on docker", record.Quote(word))
		}
		return nil, fmt.Errorf("scenario %s: %w", word, err)
	}
	if !known {
		s.Target = definitionOf(s.Target, filepath.Dir(word))
	}
	for i, entry := range strict.Entries(root, "schedule") {
		s.Schedule[i].Place = fmt.Sprintf("scenario %s: line %d", word, entry.Line)
		if err := s.Schedule[i].CheckWritten(strict.Keys(entry)); err != nil {
			return nil, err
		}
	}
	s.Schedule, err = s.Schedule.Expanded()
	return s, err
}

// CheckTarget finds what is wrong with the scenario's own target, where it is that which is to run.
func (s *Scenario) CheckTarget() error {
	if s.Target == "" {
		return nil
	}
	if _, err := os.Stat(s.Target); err != nil && targets.IsFile(s.Target) {
		return Usage(hint.Add(fmt.Errorf("scenario %s: target: there is no file %s, from here nor from the scenario's folder", s.Name, s.Target),
			"a path begins at the current folder, or where it leads nowhere from there, at the scenario's; %v names another election", hint.Named("target")))
	}
	if _, err := targets.Find(s.Target); err != nil {
		return Usage(fmt.Errorf("scenario %s: target: %w", s.Name, err))
	}
	return nil
}

// definitionOf is where the file is that describes a scenario's target: at its path from the current folder, or else from the
// scenario's; or else, where that is a run's folder, where it lay when the run was made, if it still says the same, or the copy there.
func definitionOf(target, dir string) string {
	is := func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && !info.IsDir()
	}
	if !targets.IsFile(target) || filepath.IsAbs(target) || is(target) {
		return target
	}
	if beside := filepath.Join(dir, target); is(beside) {
		return beside
	}
	kept := filepath.Join(dir, record.DefinitionFile)
	if !is(kept) || !is(filepath.Join(dir, record.RunFile)) {
		return target
	}
	if r, err := record.Read(dir); err == nil && sameFile(r.DescribedBy, kept) {
		return r.DescribedBy // what it names beside itself is there, and not here
	}
	return kept
}

// sameFile reports whether two files are there and say the same.
func sameFile(one, other string) bool {
	a, err := os.ReadFile(one)
	b, otherErr := os.ReadFile(other)
	return err == nil && otherErr == nil && bytes.Equal(a, b)
}

// Plan is the run that a scenario describes, with what the given plan already says in the place of what the scenario
// says. Options, expectations and requirements are for the scenario's own target only, and another one's clients do what that
// can, with a note on what it cannot. The seed is the given plan's.
func (s *Scenario) Plan(p record.Plan) record.Plan {
	p.Scenario, p.Schedule, p.Workloads = s.Name, s.Schedule, s.Workloads
	if p.Target == "" || p.Target == s.Target {
		p.Target, p.Options, p.Expect = s.Target, maps.Clone(s.Options), s.Expect
		p.Require = append(slices.Clone(s.Require), p.Require...)
	} else if t, err := targets.Find(p.Target); err == nil {
		p.Workloads = Applicable(s.Workloads, t)
		p.Unfit = slices.DeleteFunc(slices.Clone(s.Workloads), func(name string) bool { return slices.Contains(p.Workloads, name) })
		if s.Target != "" {
			p.Shows = slices.DeleteFunc(sortedKeys(s.Expect), func(property string) bool { return s.Expect[property] != checkers.Invalid })
		}
	}
	if p.Goroutines == "" && p.On == record.OnVirtual {
		p.Goroutines = s.Goroutines
	}
	if p.Nodes == 0 {
		p.Nodes = s.Nodes
	}
	if p.Time == 0 {
		p.Time = s.Time
	}
	return p
}
