package harness

import (
	"recount/history"
	"recount/internal/seed"
	"recount/workloads"
)

// stride is the number of all processes of the run: observers, writers, the final read, the clients of its workloads, and the
// one that the nemesis has ask.
func (r *run) stride() history.Process {
	if r.asks() {
		return r.asker() + 1
	}
	return r.asker()
}

// asker is the client by which the nemesis asks nodes for something, in a run that has such a fault.
func (r *run) asker() history.Process {
	return history.Process(2*len(r.names) + 1 + workloads.ClientProcesses(workloads.Named(r.Workloads)))
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
	for _, w := range workloads.Named(r.Workloads) {
		if w.Start == nil {
			continue
		}
		stops = append(stops, w.Start(workloads.Scene{
			Cluster: r.cluster, Recorder: r.recorder, Nodes: r.names, Leader: r.views.Leader, Bounds: r.bounds,
			Rand: seed.New(r.Seed, w.Name), First: first + history.Process(w.First), Stride: r.stride(),
		}))
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}
