package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"recount/docker"
	"recount/docker/member"
	"recount/election"
	"recount/internal/count"
	"recount/internal/hint"
	"recount/targets/specfile"
)

// notAnswered is the way out where a node is asked by a command that fails.
const notAnswered = "that command was run in the node and failed: what it printed may tell why, or the node's log; observe, or ready if it is there, says what is run"

// notReady is the way out where a node does not come up and does not tell why.
const notReady = "its log may tell why; a description of the target may be wrong in ports, or in ready, which says what is to be asked"

// notBootstrapped is the way out where the nodes were started, and what is to make a cluster of them does not succeed.
const notBootstrapped = "bootstrap never succeeded: what it came to last is above, and what the nodes say of it is in their logs; where it succeeds later than that, ready: {within: …} waits longer"

// awaitSome lets the loop go on until some of the servers have come up, if the system can tell. Where they are to be bootstrapped they are
// asked once they are a cluster.
func (d *driven) awaitSome(ctx context.Context, c founded, some []election.Member, bootstrap bool) error {
	system, ok := d.system.(election.Readier)
	if !ok {
		return nil
	}
	a := &awaited{c: c, d: d, wants: map[string]error{}}
	defer func() { a.enough = true }()
	for _, m := range some {
		a.wants[m.Name] = fmt.Errorf("%s was not asked yet", m.Name)
	}
	ask := func() {
		for _, m := range some {
			a.until(m.Name, m.Name, trialPatience, func(ctx context.Context) error { return system.Ready(ctx, m, d.members, d.dial(m.Name)) }, func() {})
		}
	}
	if bootstrap {
		a.wants[theCluster] = errUnfounded
		a.until(theCluster, some[0].Name, system.Patience(), d.bootstrap, ask)
	} else {
		ask()
	}
	began := c.Now()
	for next := began + tellWaits; c.Now() < began+system.Patience(); {
		if err := c.Run(ctx, c.Now()+step); err != nil {
			return err
		}
		if err := c.endedEarly(ctx); err != nil {
			return err
		}
		if a.hopeless != nil || len(a.wants) == 0 {
			return a.hopeless
		}
		if c.Now() >= next {
			next += tellWaits
			c.waits(waitsFor(a.wants, c.Now()-began, system.Patience()))
		}
	}
	name, listens := latest(a.wants), ""
	if name != theCluster {
		listens = c.listens(ctx, name)
	}
	return late(name, system.Patience(), d.told.why(name, a.wants[name]), listens)
}

// awaited is who is not ready yet. It belongs to the loop.
type awaited struct {
	c        founded
	d        *driven
	wants    map[string]error // why, of each
	hopeless error            // what waiting does not mend
	enough   bool             // nobody waits any more
}

// until tries at a node until that succeeds, for so long each time. Then it goes on with what is next.
func (a *awaited) until(name, at string, within time.Duration, try func(context.Context) error, then func()) {
	a.d.until(a.c, at, attempt{within: within, wait: 50 * time.Millisecond, try: try}, func() bool { return !a.enough }, func(err error) {
		if err == nil {
			delete(a.wants, name)
			then()
			return
		}
		if a.wants[name] = err; errors.Is(err, docker.ErrNoProgram) {
			a.hopeless = fmt.Errorf("%s will never be ready: %w", name, err)
		}
	})
}

// listens implements founded.
func (c *containers) listens(ctx context.Context, name string) string {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	ports, _, err := c.Listening(ctx, name)
	if err != nil {
		return ""
	}
	return listensOn(slices.DeleteFunc(ports, func(port int) bool { return port == member.ResourcePort })) // which is not its own
}

// listens implements founded.
func (c *virtualized) listens(_ context.Context, name string) string {
	ports, _ := c.Listening(name)
	return listensOn(ports)
}

// alone implements trial.
func (c *containers) alone(ctx context.Context, name string) []int {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, alone, _ := c.Listening(ctx, name) // where it cannot be told, nothing is
	return alone
}

// alone implements trial.
func (c *virtualized) alone(_ context.Context, name string) []int {
	_, alone := c.Listening(name)
	return alone
}

func listensOn(ports []int) string {
	if len(ports) == 0 {
		return "it listens on no port of TCP; "
	}
	words := make([]string, len(ports))
	for i, port := range ports {
		words[i] = strconv.Itoa(port)
	}
	return "it listens on " + strings.Join(words, ", ") + "; "
}

// theCluster is who is not ready before it was bootstrapped. It is no node's name: those have no spaces.
const theCluster = "the cluster"

// errUnfounded is why it is not, before that was tried.
var errUnfounded = errors.New("it was not bootstrapped yet")

// latest is who is told of, of those that are not ready: the cluster before its nodes, which wait for it.
func latest(wants map[string]error) string {
	if _, unmade := wants[theCluster]; unmade {
		return theCluster
	}
	return sortedKeys(wants)[0]
}

// tellWaits is how often is told whom is waited for.
const tellWaits = 10 * time.Second

// waitsFor says who is not ready after so long, of so long at most, and what the last try came to.
func waitsFor(wants map[string]error, after, most time.Duration) string {
	name := latest(wants)
	text := fmt.Sprintf("%s is not ready yet after %v of %v: %v", name, after.Round(time.Second), most, wants[name])
	switch more := len(wants) - 1; {
	case more > 0 && name == theCluster:
		text += fmt.Sprintf("; %s wait for it", count.Of(more, "node"))
	case more > 0:
		text += fmt.Sprintf("; nor %s", count.Of(more, "other"))
	}
	return text
}

// late is what is to be said of a node that was not ready in time. Where it answers, and is only not understood, the description of
// the target is wrong, and no node failed. Listens is what is said of the ports that it listens on.
func late(name string, patience time.Duration, why error, listens string) error {
	err := fmt.Errorf("%s is not ready after %v: %w", name, patience, why)
	misdescribed := specfile.Misdescribed(why)
	switch {
	case hint.Of(err) != "":
	case misdescribed:
		err = hint.Add(err, "it answers: observe says where its role, term and leader are in that answer; ready may ask for something else")
	case name == theCluster:
		err = hint.Add(err, "%s", notBootstrapped)
	case errors.As(err, new(election.Ended)):
		err = hint.Add(err, "%s", notAnswered)
	default:
		err = hint.Add(err, "%s", listens+notReady)
	}
	if misdescribed {
		err = Usage(err)
	}
	return unstarted(err)
}

// OnExit calls f when a node's process has ended by itself.
func (c *containers) OnExit(f func(node string, code int)) {
	c.Cluster.OnExit(c.noting(f, func(string) string { return "" }))
}
