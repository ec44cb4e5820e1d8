package report

import (
	"slices"

	"recount/checkers"
	"recount/harness/record"
)

// debugging is the command that shows what servers were at when a run broke something; "" where there is none.
func debugging(r *record.Run) string {
	broke := slices.ContainsFunc(r.Verdicts, func(v record.Verdict) bool { return v.Verdict == checkers.Invalid })
	if r.Cluster != record.OnVirtual || r.Dir == "" || !broke {
		return ""
	}
	return "recount debug " + record.Quote(r.Dir)
}
