// Package agent is Recount's hand inside a container engine: one process a run that sees the processes and the network
// namespaces of all nodes, and does to them, in microseconds, what the harness asks for.
//
// The harness attaches to the agent's standard input and output and runs yamux over them. Each stream begins with one
// line of JSON, an Opening. There is one control stream, on which requests and replies go as JSON lines; all other
// streams become connections to or from a port inside a node's network namespace. When its standard input ends, the
// harness is gone: the agent then kills every process that it was shown, anchors included, and exits.
package agent

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"time"

	"github.com/hashicorp/yamux"

	"recount/history"
)

// Opening is the first line of a stream and says what it is for. Exactly one field is set.
type Opening struct {
	Control  bool  `json:"control,omitempty"`  // by the harness: requests follow
	Dial     *Port `json:"dial,omitempty"`     // by the harness: connect to that port; a Dialed answers, then bytes flow
	Accepted *Port `json:"accepted,omitempty"` // by the agent: somebody connected to a port that the harness listens on
	// Capture, by the harness: copy what nodes say to each other; a Capturing answers, then come a Packet after the other.
	Capture *Capture `json:"capture,omitempty"`
	// Tail, by the harness: read a node's log that is a file; a Tailing answers, then come a Tailed after the other, as lines.
	Tail *Tail `json:"tail,omitempty"`
}

// FolderUsed is what an anchor writes that has used its folder.
const FolderUsed = "used the folder"

// Port is a TCP port on the loopback address of a node's network namespace: no fault of the network is in its way.
type Port struct {
	Node string `json:"node"`
	Port int    `json:"port"`
}

// Dialed answers a stream that was opened to dial.
type Dialed struct {
	Refused bool   `json:"refused,omitempty"` // nobody listens there
	Error   string `json:"error,omitempty"`
}

// Capture asks for copies of the packets of TCP that have data in them, or begin or end a connection, from these ports or to them.
type Capture struct {
	Nodes []string `json:"nodes"`
	Ports []int    `json:"ports"`
}

// Capturing answers a stream that was opened to capture.
type Capturing struct {
	Error string `json:"error,omitempty"` // why nothing comes
}

// Tail asks for what a node appends to the file that Follow names, through all its lives.
type Tail struct {
	Node string `json:"node"`
}

// Tailing answers a stream that was opened to tail.
type Tailing struct {
	Error string `json:"error,omitempty"` // why nothing comes
}

// Tailed is what was appended, or why that cannot be read, once for each reason.
type Tailed struct {
	Text  []byte `json:"text,omitempty"`
	Error string `json:"error,omitempty"`
}

// Request is one line from the harness on the control stream. Exactly one field besides the ID is set.
type Request struct {
	ID     uint64  `json:"id"`
	Enter  *Enter  `json:"enter,omitempty"`
	Attach *Attach `json:"attach,omitempty"`
	End    bool    `json:"end,omitempty"` // kill all that nodes run, and unmount all disks; anchors stay
	Follow *Follow `json:"follow,omitempty"`
	Listen *Port   `json:"listen,omitempty"`
	Apply  *Apply  `json:"apply,omitempty"`
	Verify *Verify `json:"verify,omitempty"`
	Gauge  *Gauge  `json:"gauge,omitempty"`
	Skew   *Skew   `json:"skew,omitempty"`
	Ask    string  `json:"ask,omitempty"`    // have a process of that node ask for the time
	Clocks bool    `json:"clocks,omitempty"` // how wrong the clocks of the nodes' processes are
	Read   bool    `json:"read,omitempty"`   // what state links and processes are really in
	// Traffic asks what has passed between nodes since they were entered.
	Traffic bool `json:"traffic,omitempty"`
	// Groups asks which multicast groups nodes listen to.
	Groups bool `json:"groups,omitempty"`
	// Listening asks on which ports of TCP somebody listens in the network namespace of that node.
	Listening string `json:"listening,omitempty"`
	// TellApart asks whether each part of that node has a process, and shares none with another: it is an error if not.
	TellApart string `json:"tellApart,omitempty"`
	// Abandon ends a command of which nobody wants to know any more.
	Abandon *Command `json:"abandon,omitempty"`
	// LetGo lets packets go that a trap holds.
	LetGo *LetGo `json:"letGo,omitempty"`
}

// Reply is one line from the agent: the answer to the request of that ID, or with ID 0 a notice that nobody asked for.
type Reply struct {
	ID       uint64                     `json:"id,omitempty"`
	Error    string                     `json:"error,omitempty"`
	Hint     string                     `json:"hint,omitempty"` // what to do about the error
	Applied  *Applied                   `json:"applied,omitempty"`
	Entered  *Capabilities              `json:"entered,omitempty"`
	Verified *Verified                  `json:"verified,omitempty"`
	Gauged   *Gauged                    `json:"gauged,omitempty"`
	Skewed   *Skewed                    `json:"skewed,omitempty"`
	Told     *Told                      `json:"told,omitempty"`
	Readings map[string]history.Reading `json:"readings,omitempty"` // by node, of those that run
	State    *history.Changes           `json:"state,omitempty"`
	Traffic  []Traffic                  `json:"traffic,omitempty"`
	Groups   map[string][]netip.Addr    `json:"groups,omitempty"` // by node, of IPv4, but for that of all hosts
	Ports    []int                      `json:"ports,omitempty"`
	Alone    []int                      `json:"alone,omitempty"`  // of these, those that nobody but the node itself reaches
	Stall    time.Duration              `json:"stall,omitempty"`  // a notice: the machine stood still for so long, until now
	Sprung   *Sprung                    `json:"sprung,omitempty"` // a notice: a trap has sprung
}

// Enter shows the agent its nodes, once. What it leaves to chance follows from the seed.
type Enter struct {
	Places []Place `json:"places"`
	// Gateways are those of the network, by which each node is to have a default route.
	Gateways []netip.Addr `json:"gateways,omitempty"`
	Seed     uint64       `json:"seed"`
	Disks    bool         `json:"disks,omitempty"` // disks are to be attached: it is an error if none can be
	// Processes are patterns of the command lines of nodes' processes, by what these are called.
	Processes map[string]string `json:"processes,omitempty"`
}

// Place is where a node lives: its addresses, of which there is one of a family at most, and a process that holds its
// network namespace open for the whole run.
type Place struct {
	Node  string       `json:"node"`
	Addrs []netip.Addr `json:"addrs"`
	Pid   int          `json:"pid"`
}

// Attach has a node's data volume served from a disk that can fail. It comes before the node's first process.
type Attach struct {
	Node   string `json:"node"`
	Path   string `json:"path"`   // the volume's folder, as the engine has it
	Target string `json:"target"` // where the node's container has it
	Seed   uint64 `json:"seed"`   // of the run: which operations fail follows from it
}

// Follow shows the agent the first processes of a node's containers, in the host's numbering. It replaces what was
// shown before.
type Follow struct {
	Node string `json:"node"`
	Pids []int  `json:"pids"`
	// Clocks has the clocks of the processes made ready to be skewed: a fault then stops nobody.
	Clocks bool `json:"clocks,omitempty"`
	// Log is the file that it writes its log to, as it sees it; "" if that is none, or read elsewhere.
	Log string `json:"log,omitempty"`
}

// Command is what was started beside a node's own processes, in a container of theirs: its process, in the host's numbering.
type Command struct {
	Node string `json:"node"`
	Pid  int    `json:"pid"`
}

// Apply changes links, traps, processors, memory, processes and disks, first all links and traps, then processors and memory, then all processes, with
// as little as possible in between, then parts of nodes, and then disks.
type Apply struct {
	history.Changes          // but for processes, which are sent signals, and clocks, which a Skew changes
	Signals         []Signal `json:"signals,omitempty"`
	Crash           []string `json:"crash,omitempty"` // nodes whose disks lose what was not synced, and whose interfaces lose the addresses that they were given
}

// Sprung tells that a trap has sprung: it holds a packet to another node, or ends its own node's processes now.
type Sprung struct {
	ID    int               `json:"id"`
	Node  string            `json:"node"` // whose packets, or whose process
	What  string            `json:"what"`
	To    string            `json:"to,omitempty"`    // who is to get the packet
	State history.ProcState `json:"state,omitempty"` // what becomes of the processes
}

// LetGo lets packets go that a trap of a node holds.
type LetGo struct {
	ID   int    `json:"id"`
	Node string `json:"node"`
	To   string `json:"to,omitempty"` // only those to that node
}

// Signal goes to all processes of a node.
type Signal struct {
	Node string `json:"node"`
	Kind Kind   `json:"kind"`
}

// Kind of signal.
type Kind string

// The kinds of signals.
const (
	Kill Kind = "kill"
	Term Kind = "term" // asks each container's first process to end, paused or not
	Stop Kind = "stop"
	Cont Kind = "cont"
)

// Applied tells how long ago, when the reply was sent, the change took effect on each node, and where it did not.
type Applied struct {
	Ago    map[string]time.Duration `json:"ago,omitempty"`
	Errors []string                 `json:"errors,omitempty"`
}

// Verify asks whether links, processes and disks are in these states. The agent gives them up to Within to get there: a
// process takes a moment to die.
type Verify struct {
	history.Changes
	Within time.Duration `json:"within"`
}

// Verified is what was seen. It is good when all of it is empty.
type Verified struct {
	Wrong  []string `json:"wrong,omitempty"`  // seen in another state
	Unsure []string `json:"unsure,omitempty"` // could not be looked at
	// Missed is what these are about: all else was seen to be as it should.
	Missed []history.Key `json:"missed,omitempty"`
}

// Add adds what was seen besides.
func (v *Verified) Add(o *Verified) {
	v.Wrong, v.Unsure, v.Missed = append(v.Wrong, o.Wrong...), append(v.Unsure, o.Unsure...), append(v.Missed, o.Missed...)
}

func (v *Verified) wrong(of history.Key, format string, args ...any) {
	v.Wrong, v.Missed = append(v.Wrong, fmt.Sprintf(format, args...)), append(v.Missed, of)
}

func (v *Verified) unsure(of history.Key, format string, args ...any) {
	v.Unsure, v.Missed = append(v.Unsure, fmt.Sprintf(format, args...)), append(v.Missed, of)
}

// Gauge asks for a measurement of the packets of one link: so many are sent, so far apart, of that many bytes as IP
// packets.
type Gauge struct {
	From  string        `json:"from"`
	To    string        `json:"to"`
	Count int           `json:"count"`
	Every time.Duration `json:"every"`
	Size  int           `json:"size"`
	Wait  time.Duration `json:"wait"` // for the last one to arrive
}

// Gauged is what was measured.
type Gauged struct {
	Sent   int             `json:"sent"`
	Delays []time.Duration `json:"delays,omitempty"` // from sending to arrival, of each packet that arrived, as they were sent
	Twice  int             `json:"twice"`            // how many arrived once more
	Early  int             `json:"early"`            // how many arrived before one that was sent earlier
	Took   time.Duration   `json:"took"`             // from the first sending to the last arrival
}

// Traffic is what one node has sent another, by TCP and UDP, since they were entered.
type Traffic struct {
	From        string            `json:"from"`
	To          string            `json:"to"`
	Left        Count             `json:"left"`                  // the sender
	Came        Count             `json:"came"`                  // to the receiver, behind all faults
	Connections []Connection      `json:"connections,omitempty"` // that From has made to To and that are open now
	Link        history.LinkState `json:"link"`                  // asked for now, for the link and all its ports together
}

// Count is of IP packets, with their headers.
type Count struct {
	Packets uint64 `json:"packets"`
	Bytes   uint64 `json:"bytes"`
}

// Connection is one by TCP, by its ports.
type Connection struct {
	Local uint16 `json:"local"`
	Port  uint16 `json:"port"`
}

// Capabilities are what the kernel lets an agent do to packets, besides cutting links, and to processors and memory.
type Capabilities struct {
	Delay   string            `json:"delay,omitempty"`   // what packets are delayed by
	Missing map[string]string `json:"missing,omitempty"` // what cannot be done, and why
}

// What a Capabilities may lack.
const (
	loses      = "lose packets"
	delays     = "delay packets"
	duplicates = "duplicate packets"
	resets     = "reset connections"
	throttles  = "share out processors"
	squeezes   = "limit memory"
)

// lack takes note of something that cannot be done.
func (m *Capabilities) lack(what string, why error) {
	missing := map[string]string{what: why.Error()}
	maps.Copy(missing, m.Missing)
	m.Missing = missing
}

// Throttles tells whether an agent can hold a node to a share of a processor: nil, or an error that says why not.
func (m *Capabilities) Throttles() error { return m.has(throttles) }

// Squeezes tells whether an agent can limit a node's memory.
func (m *Capabilities) Squeezes() error { return m.has(squeezes) }

func (m *Capabilities) has(what string) error {
	if why, missing := m.Missing[what]; missing {
		return fmt.Errorf("this engine's machine cannot %s: %s", what, why)
	}
	return nil
}

// Powers are what a Capabilities may lack of packets.
var Powers = []string{loses, delays, duplicates, resets}

// Supports tells whether an agent can bring a link into that state: nil, or an error that says what it cannot do.
func (m *Capabilities) Supports(s history.LinkState) error {
	for _, f := range []struct {
		asked bool
		what  string
	}{
		{s.Loss != 0, loses},
		{s.Delay != 0 || s.Jitter != 0 || s.Reorder != 0 || s.Rate != 0 || s.Picked, delays},
		{s.Duplicate != 0, duplicates},
		{s.Reset, resets},
	} {
		if why, missing := m.Missing[f.what]; f.asked && missing {
			return fmt.Errorf("this kernel cannot %s: %s", f.what, why)
		}
	}
	return nil
}

// maxLine bounds one line of the protocol, in bytes without its end. The longest is the traffic of the largest cluster: 99 nodes have
// 9702 links, each of which takes less than 450 bytes, and less than 30 more for every connection that is open. So it has room for 40
// connections on each link at once.
const maxLine = 16 << 20

// errTooLong is that a line is longer than the other end would read.
var errTooLong = fmt.Errorf("line too long: more than %d MiB", maxLine>>20)

// WriteLine writes v as one line of JSON, in one Write. A line that is too long is not written.
func WriteLine(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(b) > maxLine {
		return errTooLong
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// ReadLine reads one line of JSON into v and not a byte more: what follows on the stream belongs to somebody else.
func ReadLine(r io.Reader, v any) error {
	var line []byte
	for one := make([]byte, 1); ; {
		if _, err := io.ReadFull(r, one); err != nil {
			return err
		}
		if one[0] == '\n' {
			return json.Unmarshal(line, v)
		}
		if line = append(line, one[0]); len(line) > maxLine {
			return errTooLong
		}
	}
}

// Lines reads the lines of a stream that carries nothing else.
func Lines(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxLine+1) // with its end
	return s
}

// Mux is how both ends run yamux. There are no keepalives and no short timeouts: the pipe below ends when either end
// does, and a machine that stood still is no reason to part.
func Mux() *yamux.Config {
	c := yamux.DefaultConfig()
	c.EnableKeepAlive = false
	c.ConnectionWriteTimeout = 10 * time.Minute
	c.StreamOpenTimeout = 0
	c.LogOutput = io.Discard
	return c
}
