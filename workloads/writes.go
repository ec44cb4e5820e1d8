package workloads

import "recount/history"

// fence and record have leaders write to a resource, with their term as the fencing token.
func init() {
	register(&Workload{
		Name:   "fence",
		About:  "leaders write to a resource that refuses stale fencing tokens",
		Ops:    []history.F{history.Write, history.Read},
		Serves: []string{"fencing"},
		Writes: RefuseStale,
	})
	register(&Workload{
		Name:   "record",
		About:  "leaders write to a resource that accepts all, so that stale writes show",
		Ops:    []history.F{history.Write, history.Read},
		Writes: AcceptStale,
	})
}
