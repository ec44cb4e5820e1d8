package history

import "time"

// Fault says what the nemesis did: what was asked for, what that resolved to, and the states it left behind.
//
// Links, Procs, Clocks and Disks hold what this op changed, each with its new, whole state; a zero state is a healthy one.
// Applying them op after op gives the state of the cluster at any time. While an op is under way (between its invoke
// and its end) either state may hold.
type Fault struct {
	ID     int               `json:"id"`               // one number from a fault's inject to its heal
	Name   string            `json:"name"`             // as registered: "cut-link"
	Params map[string]string `json:"params,omitempty"` // with units: {"down": "2.5s"}
	After  string            `json:"after,omitempty"`  // what it had waited for: "election of n2 in term 4"
	Asked  []string          `json:"asked,omitempty"`  // words as written: "leader", "follower"
	Nodes  []string          `json:"nodes,omitempty"`  // what the words resolved to, in the same order
	Changes
	Spread time.Duration `json:"spread,omitempty"` // from the first to the last node that the change took effect on
}

// Changes are states of links, node processes, clocks and disks, as they are to be or have become. Unnamed ones stay as
// they are.
type Changes struct {
	Links  []Link  `json:"links,omitempty"`
	Procs  []Proc  `json:"procs,omitempty"`
	Clocks []Clock `json:"clocks,omitempty"`
	Disks  []Disk  `json:"disks,omitempty"`

	Clients []Client `json:"clients,omitempty"`
}

// Empty reports whether c changes nothing.
func (c Changes) Empty() bool {
	return len(c.Links)+len(c.Procs)+len(c.Clocks)+len(c.Disks)+len(c.Clients) == 0
}

// Client is the way between a node and the clients: those who ask it, and the resource that it writes to as the leader.
type Client struct {
	Node string `json:"node"`
	Cut  bool   `json:"cut,omitempty"` // neither questions nor answers nor writes arrive
}

// Link is the state of the packets that travel from one node to another. The other direction is another link. The
// packets of one port are a link of their own besides: they suffer what that link does to them and what the whole does.
type Link struct {
	From string `json:"from"`
	To   string `json:"to"`
	Port int    `json:"port,omitempty"` // only packets from or to this TCP or UDP port; 0 for all
	LinkState
}

// LinkState is how a link mistreats packets. The zero value delivers them.
type LinkState struct {
	Cut       bool          `json:"cut,omitempty"`       // nothing arrives
	Loss      float64       `json:"loss,omitempty"`      // chance that a packet is lost, 0 to 1
	Delay     time.Duration `json:"delay,omitempty"`     // added to each packet
	Jitter    time.Duration `json:"jitter,omitempty"`    // delay varies by up to this much either way
	Duplicate float64       `json:"duplicate,omitempty"` // chance that a packet arrives twice, 0 to 1
	Reorder   float64       `json:"reorder,omitempty"`   // chance that a packet overtakes the delay, 0 to 1
	Rate      int64         `json:"rate,omitempty"`      // bits per second that pass, what exceeds them waits; 0 for no limit
	Reset     bool          `json:"reset,omitempty"`     // TCP gets resets for answers, and what is in flight is lost
}

// Buffer is how long a packet may wait for a link of limited rate. One that would have to wait longer is lost.
const Buffer = time.Second

// And is the state of a link that is mistreated in two ways at once: what becomes of a packet that suffers both.
func (s LinkState) And(t LinkState) LinkState {
	rate := min(s.Rate, t.Rate)
	if rate == 0 {
		rate = max(s.Rate, t.Rate)
	}
	return LinkState{
		Cut:       s.Cut || t.Cut,
		Loss:      either(s.Loss, t.Loss),
		Delay:     s.Delay + t.Delay,
		Jitter:    s.Jitter + t.Jitter,
		Duplicate: either(s.Duplicate, t.Duplicate),
		Reorder:   either(s.Reorder, t.Reorder),
		Rate:      rate,
		Reset:     s.Reset || t.Reset,
	}
}

// either is the chance of one of two things or both.
func either(p, q float64) float64 {
	if p == 0 || q == 0 {
		return p + q // exactly
	}
	return 1 - (1-p)*(1-q)
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

// Clock is how the clocks of one node err. The zero errors are a healthy clock.
type Clock struct {
	Node   string        `json:"node"`
	Offset time.Duration `json:"offset,omitempty"` // added to the wall clock
	Drift  float64       `json:"drift,omitempty"`  // 0.01: the wall and the monotonic clock gain one second in a hundred
}

// Effect is what became of a change.
type Effect struct {
	Seen   Type          // OK: seen to have taken effect; Fail: seen that it has not; Info: could not be seen
	Spread time.Duration // from the first to the last node that it took effect on
	Err    error         // why Seen is not OK
}
