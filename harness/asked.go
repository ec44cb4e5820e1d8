package harness

import (
	"context"
	"errors"
	"sync"
	"time"

	"recount/docker/member"
	"recount/election"
	"recount/history"
)

// How the harness asks nodes in containers for their views, and listens to what they announce.

// algorithmNode is a node that runs one of Recount's own algorithms. A goroutine keeps a connection to its control port,
// over which it also announces its changes; no announcement is lost or heard twice when the connection is made anew.
type algorithmNode struct {
	c    *containers
	name string
	end  context.CancelFunc
	over chan struct{}

	mu     sync.Mutex
	client *member.Client // nil while there is no connection
	err    error          // why there is none
}

// redial is how long after a lost connection, or one that could not be made, the next is tried.
const redial = 25 * time.Millisecond

func (c *containers) listen(name string) *algorithmNode {
	ctx, cancel := context.WithCancel(c.lasting)
	n := &algorithmNode{c: c, name: name, end: cancel, over: make(chan struct{}), err: errors.New("not started yet")}
	go n.run(ctx)
	return n
}

func (n *algorithmNode) run(ctx context.Context) {
	defer close(n.over)
	var mark member.Mark
	hear := func(a member.Announcement) {
		mark = a.Mark
		n.c.Post(func() {
			switch {
			case a.View != nil:
				n.c.announce(n.name, *a.View)
			case a.Vote != nil:
				n.c.granted(n.name, *a.Vote)
			case a.Update != nil:
				n.c.applied(n.name, *a.Update)
			}
		})
	}
	for ctx.Err() == nil {
		conn, err := n.c.Dial(ctx, n.name, member.ControlPort)
		if err != nil {
			n.set(nil, err)
			select {
			case <-ctx.Done():
			case <-time.After(redial):
			}
			continue
		}
		client := member.NewClient(conn, mark, hear)
		n.set(client, nil)
		select {
		case <-client.Done():
		case <-ctx.Done():
		}
		client.Close() // after it, hear is not called again
		n.set(nil, client.Err())
	}
}

func (n *algorithmNode) set(client *member.Client, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.client, n.err = client, err
}

// View asks the node for its view.
func (n *algorithmNode) View(ctx context.Context) (history.View, error) {
	n.mu.Lock()
	client, err := n.client, n.err
	n.mu.Unlock()
	if client == nil {
		return history.View{}, err
	}
	return client.View(ctx)
}

// Command has the node carry out a command. Without a connection it was not even asked.
func (n *algorithmNode) Command(ctx context.Context, cmd election.Command) (uint64, error) {
	n.mu.Lock()
	client, err := n.client, n.err
	n.mu.Unlock()
	if client == nil {
		return 0, member.Refused(err.Error())
	}
	return client.Command(ctx, cmd)
}

// Close ends the connection; nothing is heard after it.
func (n *algorithmNode) Close() error {
	n.end()
	<-n.over
	return nil
}

// systemNode is a node of a real system.
type systemNode struct {
	election.Observer
	server bool // of a service, not a candidate
}

// View asks the node for its view.
func (n *systemNode) View(ctx context.Context) (history.View, error) {
	s, torn, err := n.Observe(ctx)
	if n.server {
		return history.View{Role: history.Server}, err
	}
	v := history.ViewOf(s)
	v.Torn = torn
	return v, err
}

// readLog returns what takes the lines of a node's log, and has its changes announced and its writes noted; nil if there is nobody to take
// them. wrote is nil where writes are not wanted, heard where nobody takes all lines besides.
func readLog(system election.System, self election.ID, announce func(history.View), wrote func(election.WriteNews), heard func(line string)) func(line string) {
	reader, ok := system.(election.LogReader)
	if !ok {
		return heard
	}
	var writes election.WriteReader
	if wrote != nil {
		_, writes = resourceOf(system)
	}
	return func(line string) {
		if s, ok := reader.ReadLog(self, line); ok {
			announce(history.ViewOf(s))
		}
		if writes != nil {
			if n, ok := writes.ReadWrite(self, line); ok {
				wrote(n)
			}
		}
		if heard != nil {
			heard(line)
		}
	}
}
