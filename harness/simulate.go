package harness

import (
	"context"

	"recount/harness/record"
	"recount/history"
)

// Simulate makes a simulated run and returns it judged, without a trace on disk: for those who make many. Run makes the
// same run of the same plan, and keeps it. When ctx ends, the run is cut short, as with Run.
func Simulate(ctx context.Context, p record.Plan) (*record.Run, error) {
	p.On = record.OnSim
	s, err := resolve(p)
	if err != nil {
		return nil, Usage(err)
	}
	r := &run{subject: s, Config: Config{Progress: func(string) {}}}
	r.recorder = history.NewRecorder(nil, 0)
	r.recorder.Reserve(s.expected())
	h, err := r.carryOut(ctx, "")
	if err != nil {
		return nil, err
	}
	rep := r.outline()
	rep.History, rep.Notes = h, r.notes
	Judge(ctx, rep)
	return rep, nil
}
