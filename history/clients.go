package history

// Client is the way between a node and the clients: those who ask it, and the resource that it writes to as the leader.
type Client struct {
	Node string `json:"node"`
	Cut  bool   `json:"cut,omitempty"` // neither questions nor answers nor writes arrive
}

// Key implements State.
func (c Client) Key() Key { return Key{Dimension: ofClients, Node: c.Node} }

// Healthy implements State.
func (c Client) Healthy() State { return Client{Node: c.Node} }

// Merge implements State.
func (c Client) Merge(other State) State { return Client{c.Node, c.Cut || other.(Client).Cut} }

// Same implements State.
func (c Client) Same(other State) bool { return c == other }

// Name implements State.
func (c Client) Name() string { return "the way of clients to " + c.Node }

// Words implements State.
func (c Client) Words() string { return LinkState{Cut: c.Cut}.Words() }
