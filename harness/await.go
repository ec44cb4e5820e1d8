package harness

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
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

// await lets the loop go on until every server of the system has come up, and made a cluster, if the system can tell.
func (c *containers) await(ctx context.Context) error {
	return c.awaitSome(ctx, c.members, c.bootstraps())
}

// ready implements founded.
func (c *containers) ready(ctx context.Context, some []election.Member) error {
	return c.awaitSome(ctx, some, false)
}

// awaitSome is await of some of the servers. Where they are to be bootstrapped they are asked once they are a cluster.
func (c *containers) awaitSome(ctx context.Context, some []election.Member, bootstrap bool) error {
	system, ok := c.system.(election.Readier)
	if !ok {
		return nil
	}
	a := awaited{wants: map[string]error{}}
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel()
	beside := func(f func()) { work.Go(func() { c.Guarded(f) }) }
	booted := make(chan struct{})
	if bootstrap {
		a.tell(theCluster, errUnfounded)
		beside(func() {
			if a.until(asking, theCluster, system.Patience(), c.bootstrap) {
				close(booted)
			}
		})
	} else {
		close(booted)
	}
	for _, m := range some {
		a.tell(m.Name, fmt.Errorf("%s was not asked yet", m.Name))
		beside(func() {
			select {
			case <-booted:
			case <-asking.Done():
				return
			}
			a.until(asking, m.Name, trialPatience, func(ctx context.Context) error {
				return system.Ready(ctx, m, c.members, c.dial(m.Name))
			})
		})
	}
	began := c.Now()
	for next := began + tellWaits; c.Now() < began+system.Patience(); {
		if err := c.Run(ctx, c.Now()+step); err != nil {
			return err
		}
		if err := c.endedEarly(ctx); err != nil {
			return err
		}
		wants, hopeless := a.now()
		if c.Now() >= next && len(wants) > 0 {
			next += tellWaits
			c.tell(waitsFor(wants, c.Now()-began, system.Patience()))
		}
		if hopeless != nil || len(wants) == 0 {
			return hopeless
		}
	}
	wants, _ := a.now()
	if len(wants) == 0 { // in the last moment
		return nil
	}
	name := latest(wants)
	return late(name, system.Patience(), wants[name], c.listens(ctx, name))
}

// awaited is who is not ready yet. It is safe for concurrent use.
type awaited struct {
	mu       sync.Mutex
	wants    map[string]error // why, of each
	hopeless error            // what waiting does not mend
}

// until tries until that succeeds or ctx ends, for so long each time, and reports whether it has succeeded.
func (a *awaited) until(ctx context.Context, name string, within time.Duration, try func(context.Context) error) bool {
	for ctx.Err() == nil {
		trying, done := context.WithTimeout(ctx, within)
		err := try(trying)
		done()
		if a.tell(name, err); err == nil {
			return true
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
	return false
}

// tell says why somebody is not ready; nil if they are.
func (a *awaited) tell(name string, why error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.wants[name] = why; why == nil {
		delete(a.wants, name)
	}
	if errors.Is(why, docker.ErrNoProgram) {
		a.hopeless = fmt.Errorf("%s will never be ready: %w", name, why)
	}
}

// now is who is not ready, and why, and what waiting does not mend.
func (a *awaited) now() (wants map[string]error, hopeless error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.wants), a.hopeless
}

// listens says on which ports a node waits for connections, "" where nobody can tell.
func (c *containers) listens(ctx context.Context, name string) string {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	ports, err := c.Listening(ctx, name)
	if err != nil {
		return ""
	}
	return listensOn(slices.DeleteFunc(ports, func(port int) bool { return port == member.ResourcePort })) // which is not its own
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
