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
	asks chan request // to be written one after the other
	done chan struct{}

	mu      sync.Mutex // guards the rest
	last    uint64
	waiting map[uint64]chan<- reply
	err     error
}

// NewClient speaks to a node over conn, which it owns from then on. hear, which may be nil, is called with every
// announcement after a mark, in order, on one goroutine. The zero Mark is the beginning of the process that answers.
// Who connects again gives the mark of the last announcement that was heard, and misses nothing.
func NewClient(conn net.Conn, after Mark, hear func(Announcement)) *Client {
	c := &Client{conn: conn, hear: hear, asks: make(chan request, 1), done: make(chan struct{}), waiting: map[uint64]chan<- reply{}}
	if hear != nil {
		c.asks <- request{Ask: "announcements", After: &after}
	}
	go c.write()
	go c.listen()
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

// ask sends a request and waits for its reply, no longer than ctx, even of a node that stands still and reads nothing.
func (c *Client) ask(ctx context.Context, r request) (reply, error) {
	answer := make(chan reply, 1)
	c.mu.Lock()
	c.last++
	r.ID = c.last
	c.waiting[r.ID] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, r.ID)
		c.mu.Unlock()
	}()
	asks := c.asks
	for {
		select {
		case asks <- r:
			asks = nil
		case r := <-answer:
			return r, nil
		case <-ctx.Done():
			return reply{}, ctx.Err()
		case <-c.done:
			return reply{}, c.Err()
		}
	}
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

// write writes requests, each a line, as long as the connection lives.
func (c *Client) write() {
	lines := json.NewEncoder(c.conn)
	for {
		select {
		case r := <-c.asks:
			if lines.Encode(r) != nil {
				c.conn.Close() // which ends listen, too
				return
			}
		case <-c.done:
			return
		}
	}
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
