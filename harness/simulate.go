package harness

import (
	"context"
	"time"

	"recount/harness/record"
	"recount/history"
)

// Simulate makes a run in virtual time, in the simulator unless the plan says otherwise, and returns it judged, without a trace on disk: for those who make many. Run makes the
// same run of the same plan, and keeps it. When ctx ends, the run is cut short, as with Run.
func Simulate(ctx context.Context, p record.Plan) (*record.Run, error) {
	if p.On != record.OnVirtual {
		p.On = record.OnSim
	}
	s, err := resolve(p)
	if err != nil {
		return nil, Usage(err)
	}
	r := &run{subject: s, Config: Config{Progress: func(string) {}}}
	rep := r.outline()
	r.recorder = history.NewRecorder(nil, 0)
	r.recorder.Reserve(s.expected())
	h, err := r.carryOut(ctx, "")
	if err != nil {
		return nil, err
	}
	rep.Events = r.events()
	rep.History, rep.Notes, rep.Took = h, r.notes, time.Since(rep.Started)
	Judge(ctx, rep)
	return rep, nil
}
