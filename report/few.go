package report

import (
	"fmt"
	"time"

	"recount/harness/record"
	"recount/history"
	"recount/internal/count"
)

// few says that few of the faults that a run drew took effect, where it was too short for more; "" if not.
func few(r *record.Run) string {
	took, silence := 0, time.Duration(0)
	if s := r.Setup(); s != nil {
		silence = s.Bounds.Silence
	}
	ops := r.Frame().Ops
	for i := range ops {
		if op := &ops[i]; op.F == history.Inject && op.Type == history.OK {
			took++
		}
	}
	longer := record.LongEnough(silence)
	if len(r.Plan.Faults) == 0 || took >= record.FewFaults || r.Plan.Time <= 0 || r.Plan.Time >= longer {
		return ""
	}
	return fmt.Sprintf("Only %s took effect: the time was short for a silence of %v, --time %v makes room for more.", count.Of(took, "fault"), silence, longer)
}
