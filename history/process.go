package history

import (
	"errors"
	"fmt"

	"recount/internal/hint"
)

// Exit is of the harness, info: the node's process ended by itself; it stays down. One with a fault says that a trap of it has ended
// the process. It is told at once: the nemesis may be busy, and tells later what has become of its fault.
const Exit F = "exit"

func init() {
	register(kind{name: Exit, alone: noticed, ofNode: true, value: faulted, when: maybe, fits: func(op *Op) error {
		if op.Fault == nil {
			return nil
		}
		if err := op.Fault.fits(op.F); err != nil {
			return err
		}
		if p := op.Fault.Procs; len(p) != 1 || p[0].Node != op.Node || !p[0].State.Ended() {
			err := fmt.Errorf("exit: the fault does not say how the process of %s has ended", op.Node)
			return hint.Add(err, `"value":{"procs":[{"node":%q,"state":"down"}]}, or "crashed" or "stopped"; leave the value out where no trap has ended it`, op.Node)
		}
		return nil
	}})
}

// Proc is the state of a node's process.
type Proc struct {
	Node  string    `json:"node"`
	State ProcState `json:"state"`
}

// ProcState is whether a node's process runs.
type ProcState string

// The states of a process.
const (
	Up      ProcState = "up"
	Down    ProcState = "down"    // killed: its memory is gone, all that it wrote is kept
	Stopped ProcState = "stopped" // it was asked to end, and has ended in its own way
	Crashed ProcState = "crashed" // the machine under it died: what it had not synced is gone too
	Paused  ProcState = "paused"  // it does nothing, and does not know it
	Frozen  ProcState = "frozen"  // paused from outside: it cannot even be told by a signal
)

// Ended reports whether no process is left in that state.
func (s ProcState) Ended() bool { return s == Down || s == Stopped || s == Crashed }

// severity orders the states of a process that several faults want: the worst of them holds.
var severity = map[ProcState]int{Paused: 1, Frozen: 2, Stopped: 3, Down: 4, Crashed: 5}

// fits says why it is none, or nil.
func (p Proc) fits() error {
	if p.Node == "" {
		return errors.New("a process of nobody")
	}
	return p.Check()
}

// Check says why no process can be brought into its state, or nil.
func (p Proc) Check() error {
	if p.State != Up && severity[p.State] == 0 {
		return fmt.Errorf("the process of %s cannot be %q: want up, down, stopped, crashed, paused or frozen", p.Node, p.State)
	}
	return nil
}

// Key implements State.
func (p Proc) Key() Key { return Key{Dimension: ofProcs, Node: p.Node} }

// Healthy implements State.
func (p Proc) Healthy() State { return Proc{p.Node, Up} }

// Merge implements State: the worse of the two holds.
func (p Proc) Merge(other State) State {
	if o := other.(Proc); severity[o.State] > severity[p.State] {
		return o
	}
	return p
}

// Same implements State. The dead do not tell how they died.
func (p Proc) Same(other State) bool { return p.Words() == other.(Proc).Words() }

// Name implements State.
func (p Proc) Name() string { return p.Node }

// Words implements State.
func (p Proc) Words() string {
	switch p.State {
	case "": // as found of a node some of whose processes run
		return "partly up"
	case Crashed, Stopped:
		return string(Down)
	}
	return string(p.State)
}
