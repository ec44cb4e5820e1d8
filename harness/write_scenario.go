package harness

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"recount/harness/record"
)

// ScenarioOf is the scenario whose run is the plan's. The plan names its faults: it has a schedule.
func ScenarioOf(p record.Plan) *Scenario {
	p.Schedule = p.Schedule.Untimed()
	for i := range p.Schedule {
		if st := &p.Schedule[i]; st.Times == 0 && st.ForTimes == 0 {
			st.Of = "" // it multiplies nothing any more
		}
	}
	return &Scenario{
		Target: p.Target, Options: p.Options, Nodes: p.Nodes, Time: p.Time, Seed: &p.Seed, Workloads: p.Workloads,
		Schedule: p.Schedule, Goroutines: p.Goroutines, Expect: p.Expect, Require: p.Require,
	}
}

// Encode returns the file that LoadScenario reads as s, with a comment for people before it. Each step of the schedule is
// a line.
func (s *Scenario) Encode(comment string) ([]byte, error) {
	var doc yaml.Node
	if err := doc.Encode(s); err != nil {
		return nil, fmt.Errorf("encode scenario: %w", err)
	}
	for i := 0; i+1 < len(doc.Content); i += 2 {
		switch value := doc.Content[i+1]; doc.Content[i].Value {
		case "schedule":
			for _, step := range value.Content {
				step.Style = yaml.FlowStyle
			}
		case "workloads", "require":
			value.Style = yaml.FlowStyle
		}
	}
	var b bytes.Buffer
	for line := range strings.Lines(comment) {
		b.WriteString(strings.TrimRight("# "+strings.TrimSuffix(line, "\n"), " ") + "\n")
	}
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(&doc); err != nil {
		return nil, fmt.Errorf("encode scenario: %w", err)
	}
	return b.Bytes(), nil
}
