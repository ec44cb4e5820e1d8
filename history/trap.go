package history

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"recount/internal/hint"
)

// Trap waits for something that a node does, and does something to it then: to a message of the node's, or to its process. Its
// place in the schedule of a run is an event and not a time.
type Trap struct {
	Node string `json:"node"` // whose messages, or whose process
	ID   int    `json:"id"`   // several may wait at one node
	TrapState
}

// TrapState is what a trap waits for, and what it does. The zero value is no trap.
type TrapState struct {
	Do TrapDo `json:"do,omitempty"`
	// On is what it waits for. Traps of messages wait for one that is sent.
	On   TrapOn `json:"on,omitempty"`
	Kind string `json:"kind,omitempty"` // of the messages that count; "" for all
	To   string `json:"to,omitempty"`   // only those to these nodes, with commas; "" for all
	Pass int    `json:"pass,omitempty"` // how many go by before it springs
	Most int    `json:"most,omitempty"` // how often it springs
	// Until is when a message goes on its way that is held, or is sent for the second time. It is one of the words below, or
	// a duration, or the kind of a message: when its receiver sends such a one.
	Until string `json:"until,omitempty"`
	// Effect is how many things the node still does, of messages sent and of words with its disk, before its process ends.
	Effect int `json:"effect,omitempty"`
	// Crash says that its machine dies, and with it what was not synced.
	Crash bool `json:"crash,omitempty"`
}

// TrapDo is what a trap does.
type TrapDo string

// What traps do.
const (
	Lose   TrapDo = "lose"   // the message is lost
	Hold   TrapDo = "hold"   // the message waits
	Repeat TrapDo = "repeat" // the message arrives, and once more later
	Swap   TrapDo = "swap"   // the next message between the two goes first
	Finish TrapDo = "finish" // the process ends, in the middle of what it does
)

// TrapOn is what a trap of a process waits for.
type TrapOn string

// What traps wait for.
const (
	Receives TrapOn = "receive" // the node is handed a message
	Sends    TrapOn = "send"    // it has sent one
	Leads    TrapOn = "lead"    // it has begun to lead
	Rises    TrapOn = "term"    // it has entered another term
)

// When a message goes on its way that waits. From any of them it takes as long as any other.
const (
	UntilTerm    = "term"    // its receiver has entered another term
	UntilLead    = "lead"    // somebody has begun to lead
	UntilElected = "elected" // its receiver has begun to lead
	UntilStart   = "start"   // its receiver's process has started again
	UntilHeal    = "heal"    // the fault is healed, as it is with all others that have not come before
)

// Untils are the words for when a message goes on its way that waits.
func Untils() []string { return []string{UntilTerm, UntilLead, UntilElected, UntilStart, UntilHeal} }

// Wait is how long a message waits, where that is a time and nothing that happens.
func (t TrapState) Wait() (d time.Duration, timed bool) {
	d, err := time.ParseDuration(t.Until)
	return d, err == nil && d > 0
}

// Comes reports whether what a held message waits for has come, when a node is seen to be another than it was: whether that is its
// receiver, and in which term that was when it was held.
func (t TrapState) Comes(receiver bool, term uint64, was, now View) bool {
	leads := now.Role == Leader && (was.Role != Leader || was.Term != now.Term)
	switch t.Until {
	case UntilTerm:
		return receiver && now.Term != term
	case UntilLead:
		return leads
	case UntilElected:
		return receiver && leads
	}
	return false
}

// Blind says why such a trap cannot be laid where nobody knows what messages mean, as with real servers, or nil.
func (t TrapState) Blind() error {
	_, timed := t.Wait()
	switch {
	case t == TrapState{}:
	case t.Do != Finish && t.Do != Hold:
		return hint.Add(fmt.Errorf("no single packet of a real server can be made to %s: its TCP makes up for that", t.Do), "use hold-message, or loss")
	case t.Kind != "":
		return hint.Add(fmt.Errorf("no messages are known to be of kind %q: real servers do not say what theirs mean", t.Kind), "use kind any")
	case t.Do == Finish && t.On != Receives && t.On != Sends:
		return hint.Add(fmt.Errorf("no real server says in the middle of what it does that on %s has come", t.On), "use receive or send")
	case t.Do == Hold && !timed && !slices.Contains(Untils(), t.Until):
		return hint.Add(fmt.Errorf("nobody knows when %q comes: real servers do not say what their messages mean", t.Until), "use %v or a duration", Untils())
	}
	return nil
}

// Traps is the dimension's name.
const Traps = "traps"

func init() { RegisterDimension[Trap](Traps) }

// Key implements State.
func (t Trap) Key() Key { return Key{Dimension: Traps, Node: t.Node, Port: t.ID} }

// Receivers are the nodes to which messages count; none means all.
func (t Trap) Receivers() []string {
	if t.To == "" {
		return nil
	}
	return strings.Split(t.To, ",")
}

// LaidTrap is a trap that waits for messages whose kinds nobody knows, and how far it has come.
type LaidTrap struct {
	Trap
	passed, sprung int
}

// Counts takes note of a message that the trap may wait for, to or from another node, and reports whether it springs.
func (t *LaidTrap) Counts(other string) bool {
	if to := t.Receivers(); len(to) > 0 && !slices.Contains(to, other) || t.sprung >= max(t.Most, 1) {
		return false
	}
	if t.passed++; t.passed <= t.Pass {
		return false
	}
	t.sprung++
	return true
}

// Healthy implements State.
func (t Trap) Healthy() State { return Trap{Node: t.Node, ID: t.ID} }

// Merge implements State. Each trap is of one fault.
func (t Trap) Merge(State) State { return t }

// Same implements State.
func (t Trap) Same(other State) bool { return t == other }

// Name implements State.
func (t Trap) Name() string { return fmt.Sprintf("trap %d at %s", t.ID, t.Node) }

// Words implements State.
func (t Trap) Words() string {
	if t.TrapState == (TrapState{}) {
		return "none"
	}
	what := t.Kind
	if what == "" {
		what = "any message"
	}
	words := []string{string(t.Do)}
	if t.Do == Finish {
		words = append(words, "on", string(t.On))
	}
	if t.On == Receives || t.On == Sends || t.Do != Finish {
		words = append(words, what)
	}
	if t.To != "" {
		words = append(words, "to", t.To)
	}
	if t.Pass > 0 {
		words = append(words, fmt.Sprintf("after %d", t.Pass))
	}
	if t.Until != "" {
		words = append(words, "until", t.Until)
	}
	return strings.Join(words, " ")
}

// Traps returns the states of traps among the changes.
func (c Changes) Traps() []Trap { return more[Trap](c, Traps) }
