package history

import "fmt"

// HandOver is a node that was asked to hand the leadership over. It is a state so that faults are all alike: it is asked when
// the state begins, and nothing is left to take back when it ends. Who asks is a client, whose op resign tells the rest.
type HandOver struct {
	Node  string `json:"node"`
	ID    int    `json:"id"` // one node may be asked several times
	Asked bool   `json:"asked,omitempty"`
	Heir  string `json:"heir,omitempty"` // the node that is to lead; "" for any
}

// HandOvers is the dimension's name.
const HandOvers = "hand-overs"

func init() { RegisterDimension[HandOver](HandOvers) }

// Key implements State.
func (h HandOver) Key() Key { return Key{Dimension: HandOvers, Node: h.Node, Port: h.ID} }

// Healthy implements State.
func (h HandOver) Healthy() State { return HandOver{Node: h.Node, ID: h.ID} }

// Merge implements State. Each hand-over is of one fault.
func (h HandOver) Merge(State) State { return h }

// Same implements State: to have been asked shows nowhere.
func (h HandOver) Same(State) bool { return true }

// Name implements State.
func (h HandOver) Name() string { return fmt.Sprintf("hand-over %d of %s", h.ID, h.Node) }

// Words implements State.
func (h HandOver) Words() string {
	switch {
	case !h.Asked:
		return "not asked for"
	case h.Heir != "":
		return "asked for, to " + h.Heir
	}
	return "asked for"
}

// HandOvers returns the hand-overs among the changes.
func (c Changes) HandOvers() []HandOver { return more[HandOver](c, HandOvers) }

// HandsOver tells whether nodes are asked to hand over.
func (c Changes) HandsOver() bool { return len(c.More[HandOvers]) > 0 }
