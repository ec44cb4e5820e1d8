package report

import (
	"fmt"
	"slices"
	"time"

	"recount/harness/record"
	"recount/history"
	"recount/internal/count"
)

// mostAsked is of how many faults somebody may expect each who asks for them by name: all would take hours.
const mostAsked = 8

// few says that few of the faults that a run drew took effect, where it was too short for more, or of which it had none; "" if neither.
func few(r *record.Run) string {
	took, silence, missing := 0, time.Duration(0), slices.Clone(r.Plan.Faults)
	if s := r.Setup(); s != nil {
		silence = s.Bounds.Silence
	}
	ops := r.Frame().Ops
	for i := range ops {
		if op := &ops[i]; op.F == history.Inject && op.Type == history.OK {
			took++
			if op.Fault != nil {
				missing = slices.DeleteFunc(missing, func(name string) bool { return name == op.Fault.Name })
			}
		}
	}
	longer := record.LongEnough(silence)
	switch {
	case len(r.Plan.Faults) == 0:
		return ""
	case took < record.FewFaults && r.Plan.Time > 0 && r.Plan.Time < longer:
		return fmt.Sprintf("Only %s took effect: the time was short for a silence of %v, --time %v makes room for more.", count.Of(took, "fault"), silence, longer)
	case took > 0 && len(missing) > 0 && len(r.Plan.Faults) <= mostAsked:
		return fmt.Sprintf("Of %s none took effect: a longer --time draws more, another --seed others.", and(missing))
	}
	return ""
}
