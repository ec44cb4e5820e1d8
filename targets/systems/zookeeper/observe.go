package zookeeper

import (
	"context"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"

	"recount/election"
	"recount/targets/systems"
)

// What ZooKeeper's servers say about their election, in answers and in logs.
//
// "srvr" tells a server's mode and the last transaction that it has processed, from one object of the server's: together.
// But a new leader processes nothing until somebody asks it to, and for an instant shows the last transaction of an earlier
// epoch, which was another's. So it is believed to lead an epoch only if its log said so, in a line that has both: "Have
// quorum of supporters, …; starting up and setting last processed zxid: 0x200000000". Where the log is not there to be
// read, beside the server, the answer counts as put together.
//
// A follower's last transaction is of the leader's epoch as soon as there is one. So that there is one soon, who asks a
// leader that has processed none yet opens a session with it.

// state is what is known of one server.
type state struct {
	epoch   uint64 // the highest that it has shown
	leads   uint64 // the epoch that it led last, as its log says
	follows election.ID
	sought  uint64 // the epoch for which a session was opened
}

func (s *system) meet(all []election.Member) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range all {
		if s.states[m.ID] == nil {
			s.states[m.ID] = &state{}
			s.addrs[m.Addr.String()] = m.ID
		}
	}
}

// Observer asks a server.
func (s *system) Observer(self election.Member, all []election.Member, dial election.Dial) election.Observer {
	s.meet(all)
	return &observer{s, self, dial}
}

type observer struct {
	system *system
	self   election.Member
	dial   election.Dial
}

func (o *observer) Close() error { return nil }

// Observe sends "srvr". A server that looks for a leader serves nobody, and says so.
func (o *observer) Observe(ctx context.Context) (election.Status, bool, error) {
	answer, err := o.ask(ctx, "srvr")
	if err != nil {
		return election.Status{}, false, fmt.Errorf("zookeeper: observe %s: %w", o.self.Name, err)
	}
	status, torn, alone, err := o.system.read(o.self.ID, answer)
	if alone {
		err = o.connect(ctx)
	}
	if err != nil {
		return election.Status{}, false, fmt.Errorf("zookeeper: observe %s: %w", o.self.Name, err)
	}
	return status, torn, nil
}

// ask says one word to the server and reads all that it answers.
func (o *observer) ask(ctx context.Context, word string) (string, error) {
	conn, err := o.dial(ctx, ClientPort)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if _, err := io.WriteString(conn, word); err != nil {
		return "", err
	}
	b, err := systems.ReadAnswer(conn, 0)
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return string(b), err
}

// newSession is a request for a new session with a timeout of a second, in ZooKeeper's protocol: length, version, the last
// zxid seen, timeout, session, password.
var newSession = append([]byte{0, 0, 0, 44, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 232, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16}, make([]byte, 16)...)

// connect opens a session, and leaves it to end by itself.
func (o *observer) connect(ctx context.Context) error {
	conn, err := o.dial(ctx, ClientPort)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	return exchange(conn)
}

func exchange(conn net.Conn) error {
	if _, err := conn.Write(newSession); err != nil {
		return err
	}
	_, err := io.ReadFull(conn, make([]byte, 4)) // the answer's length: it was heard
	return err
}

var (
	zxidLine = regexp.MustCompile(`(?m)^Zxid: 0x([0-9a-f]+)$`)
	modeLine = regexp.MustCompile(`(?m)^Mode: (\w+)$`)
)

// read works out what an answer means, and whether its server leads an epoch in which it has processed nothing yet.
func (s *system) read(self election.ID, answer string) (status election.Status, torn, alone bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.states[self]
	if strings.Contains(answer, "not currently serving requests") {
		return election.Status{Role: election.Candidate, Term: state.epoch}, false, false, nil
	}
	zxid, mode := zxidLine.FindStringSubmatch(answer), modeLine.FindStringSubmatch(answer)
	if zxid == nil || mode == nil {
		return status, false, false, fmt.Errorf("srvr answered %.80q", answer)
	}
	n, err := strconv.ParseUint(zxid[1], 16, 64)
	if err != nil {
		return status, false, false, fmt.Errorf("zxid %q: %w", zxid[1], err)
	}
	epoch := n >> 32
	if mode[1] == "leader" {
		torn = epoch != state.leads || epoch == 0
		if alone = !torn && n == epoch<<32 && state.sought < epoch; alone {
			state.sought = epoch
		}
		return election.Status{Role: election.Leader, Term: epoch, Leader: self}, torn, alone, nil
	}
	state.epoch = max(state.epoch, epoch)
	status = election.Status{Role: election.Follower, Term: state.epoch}
	if l := s.states[state.follows]; l != nil && l.leads == epoch && epoch > 0 {
		status.Leader = state.follows
	}
	return status, false, false, nil
}

var (
	leadsLine   = regexp.MustCompile(`Have quorum of supporters, .*; starting up and setting last processed zxid: 0x([0-9a-f]+)`)
	followsLine = regexp.MustCompile(`Successfully connected to leader, using address: /?([0-9a-f.:\[\]]+):[0-9]+`)
)

// ReadLog reads that a server leads an epoch. That it follows somebody it tells before it knows the epoch.
func (s *system) ReadLog(self election.ID, line string) (election.Status, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.states[self]
	if m := followsLine.FindStringSubmatch(line); m != nil {
		state.follows = s.addrs[m[1]]
		return election.Status{}, false
	}
	m := leadsLine.FindStringSubmatch(line)
	if m == nil {
		return election.Status{}, false
	}
	zxid, err := strconv.ParseUint(m[1], 16, 64)
	if err != nil || zxid>>32 == 0 {
		return election.Status{}, false
	}
	state.leads = zxid >> 32
	state.epoch = max(state.epoch, state.leads)
	return election.Status{Role: election.Leader, Term: state.leads, Leader: self}, true
}
