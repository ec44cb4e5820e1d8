package harness

import (
	"slices"
	"time"

	"recount/history"
	"recount/internal/seed"
	"recount/workloads"
)

// How clients of the register and of updates go about it.
const (
	registerClients = 4
	commandEvery    = 100 * time.Millisecond
)

// stride is the number of all processes of the run: observers, writers, the final read, and the clients of the register with
// the one that asks for hand-overs.
func (r *run) stride() history.Process {
	n := history.Process(2*len(r.names) + 1)
	if slices.Contains(r.Workloads, workloadRegister) || slices.Contains(r.Workloads, workloadTransfer) {
		n += registerClients + 1
	}
	return n
}

// store is the member that the others elect through, in a model that has it as one of the nodes; "" in all else.
func (r *run) store() string {
	if r.target.Node == nil {
		return ""
	}
	return r.target.Store.String()
}

// work starts what clients do besides observing and writing to the fenced resource, and returns how to stop it.
func (r *run) work() (stop func()) {
	var stops []func()
	first := history.Process(2*len(r.names) + 1)
	if slices.Contains(r.Workloads, workloadRegister) {
		stops = append(stops, workloads.KeepRegister(r.cluster, r.recorder, r.names, seed.New(r.Seed, "register"), registerClients,
			commandEvery, first, r.stride()))
	}
	if slices.Contains(r.Workloads, workloadUpdates) {
		stops = append(stops, workloads.SendUpdates(r.cluster, r.names, commandEvery))
	}
	if slices.Contains(r.Workloads, workloadTransfer) {
		stops = append(stops, workloads.HandOver(r.cluster, r.recorder, r.sightings.Leader, 10*r.bounds.Silence,
			first+registerClients, r.stride()))
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}
