package member

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"

	"recount/election"
	"recount/history"
)

// Client is the harness's end of one connection to a node's control port.
type Client struct {
	conn net.Conn
	hear func(Announcement)
	done chan struct{}

	mu      sync.Mutex // guards the rest, and keeps lines whole
	last    uint64
	waiting map[uint64]chan<- reply
	err     error
}

// NewClient speaks to a node over conn, which it owns from then on. hear, which may be nil, is called with every
// announcement after a mark, in order, on one goroutine. The zero Mark is the beginning of the process that answers.
// Who connects again gives the mark of the last announcement that was heard, and misses nothing.
func NewClient(conn net.Conn, after Mark, hear func(Announcement)) *Client {
	c := &Client{conn: conn, hear: hear, done: make(chan struct{}), waiting: map[uint64]chan<- reply{}}
	go c.listen()
	if hear != nil {
		// A failure to send shows in listen, too.
		c.mu.Lock()
		defer c.mu.Unlock()
		_ = c.send(request{Ask: "announcements", After: &after})
	}
	return c
}

// View asks the node for its view: one undivided answer. An error means that none came.
func (c *Client) View(ctx context.Context) (history.View, error) {
	r, err := c.ask(ctx, request{Ask: "view"})
	if err == nil && r.View == nil {
		err = errNoAnswer
	}
	if err != nil {
		return history.View{}, fmt.Errorf("node: ask for the view: %w", err)
	}
	return r.View.history()
}

// Refused says why a command certainly was not carried out.
type Refused string

func (r Refused) Error() string { return string(r) }

// Command has the node carry out a command. A Refused error means that it was not; any other, that nobody knows.
func (c *Client) Command(ctx context.Context, cmd election.Command) (value uint64, err error) {
	r, err := c.ask(ctx, request{Ask: "command", Command: &cmd})
	switch {
	case err != nil:
		return 0, fmt.Errorf("node: give a command: %w", err)
	case r.Result == nil:
		return 0, fmt.Errorf("node: give a command: %w", errNoAnswer)
	case r.Result.Refused != "":
		return 0, Refused(r.Result.Refused)
	}
	return r.Result.Value, nil
}

// ask sends a request and waits for its reply.
func (c *Client) ask(ctx context.Context, r request) (reply, error) {
	answer := make(chan reply, 1)
	c.mu.Lock()
	c.last++
	r.ID = c.last
	c.waiting[r.ID] = answer
	err := c.send(r)
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, r.ID)
		c.mu.Unlock()
	}()
	if err == nil {
		select {
		case r := <-answer:
			return r, nil
		case <-ctx.Done():
			return reply{}, ctx.Err()
		case <-c.done:
			err = c.Err()
		}
	}
	return reply{}, err
}

// Done is closed when the connection has ended. Nothing is heard after it.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err is why the connection has ended, once Done is closed.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close ends the connection, and waits until nothing more will be heard. It must not be called by hear.
func (c *Client) Close() {
	c.conn.Close()
	<-c.done
}

// send writes one line. The caller holds mu.
func (c *Client) send(r request) error {
	b, err := json.Marshal(r)
	if err == nil {
		_, err = c.conn.Write(append(b, '\n'))
	}
	return err
}

var (
	errHungUp   = errors.New("the node hung up")
	errNoAnswer = errors.New("neither an answer nor an announcement")
)

func (c *Client) listen() {
	lines := bufio.NewScanner(c.conn)
	lines.Buffer(nil, maxLine)
	err := errHungUp
	for lines.Scan() {
		if e := c.handle(lines.Bytes()); e != nil {
			err = fmt.Errorf("node: reply %q: %w", lines.Bytes(), e)
			break
		}
	}
	if e := lines.Err(); e != nil {
		err = e
	}
	c.conn.Close()
	c.mu.Lock()
	c.err = err
	c.mu.Unlock()
	close(c.done)
}

func (c *Client) handle(line []byte) error {
	var r reply
	if err := json.Unmarshal(line, &r); err != nil {
		return err
	}
	if r.Mark != nil {
		a, err := r.announcement()
		if err == nil && c.hear != nil {
			c.hear(a)
		}
		return err
	}
	if r.View == nil && r.Result == nil {
		return errNoAnswer
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if answer := c.waiting[r.ID]; answer != nil {
		answer <- r
		delete(c.waiting, r.ID)
	}
	return nil
}
