package harness

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"recount/election"
	"recount/harness/record"
	"recount/history"
	"recount/internal/hint"
	"recount/workloads"
)

// driven is what clusters of processes have in common, in containers and in virtual time: who their members are, and what is known of
// them besides their answers.
type driven struct {
	s        *subject
	system   election.System // nil for an algorithm
	members  []election.Member
	built    []string // images or programs, with their hashes, where a file describes the target
	unread   unreadLines
	told     *toldStarts         // nil where nodes are told nothing
	lives    map[string]int      // how often the processes of each node have begun
	had      map[history.Key]int // in which of those each was asked for a fault of the target's own
	ended    string              // what is to be said of the first process that ended by itself
	announce func(node string, v history.View)
	alarm    func(node, line string) // nil where nobody listens
	came     []record.Sometimes      // of what is to come sometimes
	fence    *workloads.Fence        // that leaders write to

	// beside does something where nodes are asked, which may take its time, and then on the loop what it returns, unless that is nil. The
	// context ends when no answers are wanted any more. node is whom it is about.
	beside func(node string, f func(ctx context.Context) (then func()))
	reach  func(ctx context.Context, node string, port int) (net.Conn, error)
	save   func(ctx context.Context, dir string) error // the logs
	// unlogged tells of which logs that are files nothing was read, and why not, by node.
	unlogged func() map[string]error
}

// Unread says which lines of logs could not be read, and which nodes could not be told that they have begun; "" if all could.
func (d *driven) Unread() string {
	return strings.Join(slices.DeleteFunc([]string{d.unread.words(), d.unloggedWords(), d.told.words()}, func(s string) bool { return s == "" }), " ")
}

// unloggedWords say of which nodes no line was read that they write to a file; "" if there are none.
func (d *driven) unloggedWords() string {
	all := d.unlogged()
	if len(all) == 0 {
		return ""
	}
	nodes := sortedKeys(all)
	return fmt.Sprintf("Nothing was read of the file that the log is written to, of %s. The first: %s.", strings.Join(nodes, ", "), hint.Line(all[nodes[0]]))
}

func (d *driven) OnAnnounce(f func(node string, v history.View)) { d.announce = f }

func (d *driven) member(name string) election.Member {
	return d.members[slices.IndexFunc(d.members, func(m election.Member) bool { return m.Name == name })]
}

func (d *driven) dial(name string) election.Dial {
	return func(ctx context.Context, port int) (net.Conn, error) { return d.reach(ctx, name, port) }
}

// attempt is something that is tried at a node, for so long each time, and so long after it has failed again.
type attempt struct {
	within, wait time.Duration
	try          func(context.Context) error
}

// until tries something at a node until that succeeds, or is not wanted any more. came is told on the loop what came of each try that is.
func (d *driven) until(c founded, node string, a attempt, wanted func() bool, came func(error)) {
	if !wanted() {
		return
	}
	d.beside(node, func(ctx context.Context) func() {
		trying, cancel := context.WithTimeout(ctx, a.within)
		defer cancel()
		err := a.try(trying)
		return func() {
			if !wanted() {
				return
			}
			if came(err); err != nil {
				c.After(a.wait, func() { d.until(c, node, a, wanted, came) })
			}
		}
	})
}

// Command has a node carry out a command: what its driver can ask for.
func (d *driven) Command(name string, cmd election.Command, done func(value uint64, err error)) {
	d.beside(name, func(ctx context.Context) func() {
		if answer := command(ctx, d.system, d.members, d.member(name), cmd, d.dial(name)); answer != nil {
			return func() { answer(done) }
		}
		return nil
	})
}

// Sees implements renewed.
func (d *driven) Sees(name string, who election.ID, done func(election.Membership, error)) {
	d.beside(name, func(ctx context.Context) func() {
		as, err := seen(ctx, d.system, d.members, d.member(name), who, d.dial(name))
		return func() { done(as, err) }
	})
}

// bootstraps reports whether the members have to be told that they are a cluster.
func (d *driven) bootstraps() bool {
	b, can := d.system.(election.Bootstrapper)
	if !can {
		return false
	}
	must, _ := b.Bootstraps()
	return must
}

// bootstrap tells them so.
func (d *driven) bootstrap(ctx context.Context) error {
	return d.system.(election.Bootstrapper).Bootstrap(ctx, d.members, func(m election.Member) election.Dial { return d.dial(m.Name) })
}

func (d *driven) register(node string) (get func(context.Context) (uint64, error), put func(context.Context, uint64) error) {
	s, keeps := d.system.(election.Storer)
	if !keeps {
		return nil, nil
	}
	self := d.member(node)
	get = func(ctx context.Context) (uint64, error) { return s.Get(ctx, self, d.members, d.dial(node)) }
	put = func(ctx context.Context, value uint64) error { return s.Put(ctx, self, d.members, value, d.dial(node)) }
	return get, put
}

// noting keeps which process ended first, with what more there is to say of its node, before f is told.
func (d *driven) noting(f func(node string, code int), more func(node string) string) func(node string, code int) {
	return func(node string, code int) {
		if d.ended == "" {
			d.ended = fmt.Sprintf("%s ended by itself with exit status %d%s", node, code, more(node))
		}
		f(node, code)
	}
}

func (d *driven) gone() string { return d.ended }

// endedEarly is an error once a process has ended that was to become ready.
func (d *driven) endedEarly(ctx context.Context) error {
	if d.ended == "" {
		return nil
	}
	return unready(ctx, d.ended, d.save)
}
