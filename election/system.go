package election

import (
	"context"
	"net"
	"net/netip"
)

// System is a real server, unmodified, as an election under test: how its image is made, how a node of it is started,
// and how to ask a node who leads. One System value serves one run; it may remember what it learns (which raft id is
// whose) and its methods are called concurrently.
type System interface {
	// Image names the recipe that builds the image and the version to build.
	Image() Image
	// Container says how to run one member, given everybody's addresses.
	Container(self Member, all []Member) Container
	// Observer returns how to ask self for its view, over connections that dial opens.
	Observer(self Member, all []Member, dial Dial) Observer
}

// Image is a folder of recipes by name and the version of the server to build by it.
type Image struct {
	Recipe  string // "etcd"
	Version string // "3.6.16"
}

// Member is one member's place in the network.
type Member struct {
	ID   ID
	Addr netip.Addr
}

// Container is what a member's container runs.
type Container struct {
	Command []string
	Env     []string
	Data    string // the folder whose contents survive a restart
}

// Dial opens a TCP connection to a port of the node, from within the node's own network: no fault is in its way.
type Dial func(ctx context.Context, port int) (net.Conn, error)

// Observer asks one node for its view.
type Observer interface {
	// Observe returns the node's view in one undivided answer. An observer that has to put its answer together from
	// several says so by torn. An error means that the node gave no answer.
	Observe(ctx context.Context) (s Status, torn bool, err error)
	// Close ends its connections.
	Close() error
}

// LogReader is a System whose nodes tell of their changes in their logs, so that a leadership that falls between two
// observations is not lost.
type LogReader interface {
	// ReadLog returns the view that one line of self's log announces, and false for lines that announce none. Lines of
	// one node come in order; the status it returns holds together as Observe's does.
	ReadLog(self ID, line string) (Status, bool)
}
