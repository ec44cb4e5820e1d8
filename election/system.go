package election

import (
	"context"
	"net"
	"net/netip"
	"regexp"
	"sync/atomic"
	"time"
)

// System is a real server, unmodified, as an election under test: how its image is made, how a node of it is started,
// and how to ask a node who leads. One System value serves one run; it may remember what it learns (which raft id is
// whose) and its methods are called concurrently.
//
// The members are alike, and elect among themselves; or they are candidates, who elect through a service whose servers
// are members, too. Then the System is a Service, Image is the candidates', and of a server nothing is asked but that
// it answers: what it says about its own affairs is no part of the candidates' election.
type System interface {
	// Image names the recipe that builds the image and the version to build.
	Image() Image
	// Container says how to run one member, given everybody's addresses.
	Container(self Member, all []Member) Container
	// Observer returns how to ask self for its view, over connections that dial opens.
	Observer(self Member, all []Member, dial Dial) Observer
}

// Service is a System of candidates and of the servers that they elect through.
type Service interface {
	System
	// ServerImage is the image that a server runs. Its address is not known yet.
	ServerImage(server Member) Image
}

// Image is how an image is come by: a recipe, or one of the other ways, for somebody's own server.
type Image struct {
	Recipe  string // a folder of recipes: "etcd"
	Version string // of the server to build by it: "3.6.16"

	Ref        string // an image that the engine has, or can pull
	Dockerfile string // a file by which the engine builds the image; its folder is the context
	Binary     string // a file that is a static Linux executable: the image holds nothing else, and runs it
	Debian     string // packages of Debian's, with spaces between: the image holds them and all that they depend on
	Package    string // the folder of a Go package main, which Recount builds: the image is as with Binary
	Tags       string // build tags of that package, with commas between
	Cover      string // patterns of packages, with commas between: what of them runs is counted, in virtual time
}

// Member is one member's place in the network.
type Member struct {
	ID     ID // candidates are numbered before servers
	Name   string
	Server bool // it is one of those that the others elect through
	Addr   netip.Addr
}

// Container is what a member's container runs.
type Container struct {
	Command []string
	Env     []string
	Data    string // the folder whose contents survive a restart
	Log     string // the file that it writes its log to, besides its output, by its whole path; "" for none
	Shared  string // the folder that it shares with all that have one: storage which none of them loses, and no fault reaches
	Dir     string // that the command begins in; "" for the image's own
	// Files are written before the first start, by their whole paths: what a server has to find that takes it in no other
	// way. Those under Data survive a restart as the server has changed them, the others as they are.
	Files map[string]string
	// Capabilities are those of Linux that it has besides the engine's default: "NET_ADMIN".
	Capabilities []string
	// Beside are processes of the same image that share the member's network and its fate.
	Beside []Container
}

// Dial opens a TCP connection to a port of the node, from within the node's own network: no fault is in its way.
type Dial func(ctx context.Context, port int) (net.Conn, error)

// Noting returns a Dial that does the same, and what tells whether it has connected: of a node that nobody has connected to it is
// certain that nothing was asked. Whoever dials may go on when nobody waits for it any more.
func (d Dial) Noting() (noting Dial, connected func() bool) {
	var has atomic.Bool
	return func(ctx context.Context, port int) (net.Conn, error) {
		c, err := d(ctx, port)
		if err == nil {
			has.Store(true)
		}
		return c, err
	}, has.Load
}

// Observer asks one node for its view.
type Observer interface {
	// Observe returns the node's view in one undivided answer. An observer that has to put its answer together from
	// several says so by torn. An error means that the node gave no answer.
	Observe(ctx context.Context) (s Status, torn bool, err error)
	// Close ends its connections.
	Close() error
}

// Readier is a System that can tell when a server has come up. A run begins when all have; it is no run where one does not.
type Readier interface {
	// Ready returns nil if self's server has come up, or else what it still wants.
	Ready(ctx context.Context, self Member, all []Member, dial Dial) error
	// Patience is how long a server may take.
	Patience() time.Duration
}

// Bootstrapper is a System that has to be told once that its members are a cluster.
type Bootstrapper interface {
	// Bootstraps reports whether there is anything to tell them, and whether by commands, of which none runs in virtual time.
	Bootstraps() (some, byCommand bool)
	// Bootstrap does so when all members were started and before they are asked whether they are ready. Where it fails, it
	// is called again, for as long as members may take to be ready; after it has returned nil, never. dial is how to reach one
	// of them.
	Bootstrap(ctx context.Context, all []Member, dial func(Member) Dial) error
}

// Starter is a System whose members are told something each time that their processes have begun.
type Starter interface {
	// Starts reports whether there is anything to tell them, and whether by commands, of which none runs in virtual time.
	Starts() (some, byCommand bool)
	// PostStart is what self is told, one thing after the other. What fails is tried again, for as long as that process is the last.
	PostStart(self Member, all []Member) []Told
}

// Told tells a member something, over connections that dial opens.
type Told func(ctx context.Context, dial Dial) error

// Afflicted is a System that has faults of its own.
type Afflicted interface {
	// Afflict asks self to begin a fault, by its name, or to end it. It returns nil if self has done so; an error that is Certain if it
	// certainly has not; any other if nobody knows.
	Afflict(ctx context.Context, self Member, all []Member, fault string, begin bool, dial Dial) error
}

// Exec runs a command in a member's container and returns what it prints to its standard output. Where the command ran, and ended with
// another status than 0, there is an Ended in the error's chain.
type Exec func(ctx context.Context, m Member, command []string) (output []byte, err error)

// Ended is how a command ended, and what it had printed. Error tells the status and the output: "exit status 1: not the leader".
type Ended interface {
	error
	Printed() (stdout, stderr string)
}

// Executor is a System that runs commands in its members' containers. Use is called before any other method, except where
// there is no way to run commands.
type Executor interface {
	Use(exec Exec)
}

// Observed is a System that says how its members are observed. Those of one that does not say so are over Dial.
type Observed interface {
	Observed() Way
}

// Way is how members are observed.
type Way uint8

// The ways.
const (
	OverDial  Way = iota // what lives beside a member can observe it, too
	FromHere             // over Dial, by what only this machine has or knows: a client's certificate, how often a member was added
	ByCommand            // over an Exec
	ByLogs               // not at all: what they write tells
)

// Encrypted is a System whose members may be asked over TLS, and are not in virtual time then: a handshake draws its keys from
// this machine's chance, and two runs with one seed would not be alike.
type Encrypted interface {
	Encrypted() bool
}

// Sourced is a System that can tell what its images are made of and this machine does not have.
type Sourced interface {
	// There returns nil if nothing is missing.
	There() error
}

// Fitting is a System that can tell which members it cannot start or ask, before there are any: their addresses need not be theirs yet.
type Fitting interface {
	// Fits returns nil if it can start and ask all of them.
	Fits(all []Member) error
}

// DataKeeper is a System that says who keeps data, before there are members whose Container would tell.
type DataKeeper interface {
	// KeepData reports whether nodes do, and whether servers beside them do.
	KeepData() (nodes, servers bool)
}

// Quoter is an Observer that keeps what its node has answered last.
type Quoter interface {
	// Answer is that, as the node gave it; nil if it has given none.
	Answer() []byte
}

// RoleCounter is an Observer that counts the words by which its node tells its role.
type RoleCounter interface {
	// Roles is how often it has said each.
	Roles() map[string]int
}

// LogReader is a System whose nodes tell of their changes in their logs, so that a leadership that falls between two
// observations is not lost.
type LogReader interface {
	// ReadLog returns the view that one line of self's log announces, and false for lines that announce none. Lines of
	// one node come in order; the status it returns holds together as Observe's does.
	ReadLog(self ID, line string) (Status, bool)
}

// Alarmer is a System whose nodes write to their logs what they write only if something is wrong with them: that what they asserted is not so.
type Alarmer interface {
	// Alarms reports whether a line of a node's log is such a one.
	Alarms(line string) bool
}

// Sometimes is a System that knows lines which logs of its nodes are to have sometimes: runs in which none came have not tested what it tells
// of.
type Sometimes interface {
	// Sometimes are patterns of such lines.
	Sometimes() []*regexp.Regexp
}

// LineCritic is a LogReader that tells of lines which announce a change and could not be read, or not whole.
type LineCritic interface {
	// OnUnreadLine has f called, within ReadLog, with why.
	OnUnreadLine(f func(self ID, err error))
}

// Abdicator is a System whose leaders can be asked to hand over, by an API of their own.
type Abdicator interface {
	// HandOver is how to ask; nil where nobody can.
	HandOver() HandOver
}

// HandOver asks self to hand the leadership over, to heir or with None to whom it likes. It returns nil if self led when it was
// asked and has taken it up, whatever comes of that; ErrNotLeader, ErrRefused or ErrNoHeir, wrapped or not, if it certainly has
// not; any other error if nobody knows. It need not wait until another leads. When ctx ends nobody waits for it any more.
type HandOver func(ctx context.Context, self Member, all []Member, heir ID, dial Dial) error

// HandOverOf is how to ask the leaders of a system to hand over; nil where nobody can.
func HandOverOf(y System) HandOver {
	if a, can := y.(Abdicator); can {
		return a.HandOver()
	}
	return nil
}

// Storer is a System whose members read and write a number for clients, under a key of which nobody else knows: the register of
// a Keeper.
type Storer interface {
	// Get has self read it; 0 where nothing was written.
	Get(ctx context.Context, self Member, all []Member, dial Dial) (value uint64, err error)
	// Put has self write it. An error that is Certain says that it was not written, nor will be; after any other it may be.
	Put(ctx context.Context, self Member, all []Member, value uint64, dial Dial) error
}

// Decoder is a System that can read what its servers send each other, so that a picture of a run tells more of it than bytes.
type Decoder interface {
	// Ports are those on which servers listen to each other, and that Decode can read.
	Ports() []int
	// Decode returns what reads the two directions of one connection to a server's port; nil for those that it cannot read.
	// Each is called with the bytes in the order in which they are sent, however they are cut up, and returns the messages that
	// end in them: none from where on it cannot tell.
	Decode(port int) (asked, answered Reader)
}

// Reader reads what goes in one direction of a connection.
type Reader func(sent []byte) []Said

// Said is a message that one server has sent another.
type Said struct {
	Kind string // "vote request"
	Term uint64 // that it names; 0 for none
}
