package report

import (
	"encoding/json"
	"fmt"

	"recount/checkers"
	"recount/harness/record"
)

// JSON is a run as one object for scripts.
func JSON(r *record.Run) ([]byte, error) {
	type verdict struct {
		Property string           `json:"property"`
		Verdict  checkers.Verdict `json:"verdict"`
		Promised bool             `json:"promised"`
		Expected *bool            `json:"expected,omitempty"` // whether it is what the scenario expects, if it expects anything
		Ops      []int            `json:"ops"`
		Why      string           `json:"why"`
	}
	out := struct {
		Run      string    `json:"run"`
		File     string    `json:"file,omitempty"`
		Seed     uint64    `json:"seed"`
		Status   int       `json:"status"`
		Sentence string    `json:"sentence"` // what the status means
		Repeat   string    `json:"repeat,omitempty"`
		Verdicts []verdict `json:"verdicts"`
	}{r.Dir, r.File, r.Seed, r.Status, Sentence(r), r.Repeat, []verdict{}}
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		j := verdict{v.Property, v.Verdict, v.Promised, nil, v.Ops, v.Why}
		if j.Ops == nil {
			j.Ops = []int{}
		}
		if v.Expect != checkers.Unknown {
			met := v.Meaning() == record.Met
			j.Expected = &met
		}
		out.Verdicts = append(out.Verdicts, j)
	}
	b, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("encode the run: %w", err)
	}
	return append(b, '\n'), nil
}
