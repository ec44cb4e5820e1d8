package workloads

import (
	"fmt"
	"time"

	"recount/history"
)

// Fence is the resource that leaders write to, and the record of their writes. Enforcing, it refuses a write whose token
// is lower than one it has accepted; recording, it accepts all, and the history shows what a fence would have stopped. Where
// a target has a resource of its own, it is the record alone: see Pending.Told.
type Fence struct {
	Enforce bool
	// Reach tells whether the writes of a node arrive; nil is always. Those that do not are lost without a word.
	Reach func(node string) bool

	now      func() time.Duration
	recorder *history.Recorder
	token    uint64
	value    int64
	number   map[string]history.Process
	busy     map[history.Process]bool
	stride   history.Process
}

// NewFence returns a resource that nothing was written to. Processes number as with Observe.
func NewFence(now func() time.Duration, r *history.Recorder, nodes []string, enforce bool, first, stride history.Process) *Fence {
	f := &Fence{
		Enforce: enforce, now: now, recorder: r, stride: stride,
		number: map[string]history.Process{}, busy: map[history.Process]bool{},
	}
	for i, n := range nodes {
		f.number[n] = first + history.Process(i)
	}
	f.number[""] = first + history.Process(len(nodes))
	return f
}

// Pending is one write on its way.
type Pending struct {
	f        *Fence
	process  history.Process
	node     string
	access   history.Access
	accepted bool
	lost     bool
	highest  uint64
}

// Begin records that a node's writer sends a write; of a write that nobody knows the writer of, node is "".
func (f *Fence) Begin(node string, token uint64, value int64) Pending {
	if f.busy[f.number[node]] { // a former life's write is still on its way
		f.number[node] += f.stride
	}
	p := Pending{f: f, process: f.number[node], node: node, access: history.Access{Token: token, Value: value}}
	f.busy[p.process] = true
	p.record(history.Invoke, "")
	return p
}

// Decide lets the write reach the resource, and returns whether it is accepted.
func (p *Pending) Decide() bool {
	if p.lost = p.f.Reach != nil && !p.f.Reach(p.node); p.lost {
		return false
	}
	p.highest = p.f.token
	if p.accepted = !p.f.Enforce || p.access.Token >= p.f.token; p.accepted {
		p.f.token, p.f.value = max(p.f.token, p.access.Token), p.access.Value
	}
	return p.accepted
}

// End records the answer's arrival.
func (p *Pending) End() {
	if p.lost { // its process stays busy: the next write is another's
		p.record(history.Info, "no answer")
		return
	}
	delete(p.f.busy, p.process)
	if p.accepted {
		p.record(history.OK, "")
		return
	}
	p.record(history.Fail, fmt.Sprintf("stale token %d: %d was accepted before", p.access.Token, p.highest))
}

func (p *Pending) record(t history.Type, problem string) {
	p.f.recorder.Append(history.Op{
		Time: p.f.now(), Process: p.process, Type: t, F: history.Write, Node: p.node, Access: p.access, Error: problem,
	})
}

// Told records what another resource has done with the write: OK that it took it, Fail that it never will, Info that nobody
// knows, and why.
func (p *Pending) Told(t history.Type, why string) {
	if t != history.Info {
		delete(p.f.busy, p.process)
	}
	p.record(t, why)
}

// Read records a read of the resource: the highest token accepted and the last value.
func (f *Fence) Read(process history.Process) {
	op := history.Op{Time: f.now(), Process: process, Type: history.Invoke, F: history.Read}
	f.recorder.Append(op)
	op.Type, op.Access = history.OK, history.Access{Token: f.token, Value: f.value}
	f.recorder.Append(op)
}
