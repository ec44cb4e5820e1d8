// Package redis is Redis: the election of a master by sentinels, and servers for elections through them.
package redis

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"

	"recount/election"
)

const (
	// Port is where servers listen.
	Port         = 6379
	sentinelPort = 26379
)

// client asks one Redis server, over one connection that it keeps. Questions are asked one at a time.
type client struct {
	dial election.Dial

	mu   sync.Mutex
	conn net.Conn // nil before the first question, and after one that failed
	read *bufio.Reader
}

// refusal is an error that the server answers with.
type refusal string

func (e refusal) Error() string { return string(e) }

// ask sends a command and returns the strings that the answer consists of: one, or those of a list.
func (c *client) ask(ctx context.Context, command ...string) (answer []string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		if c.conn, err = c.dial(ctx, Port); err != nil {
			c.conn = nil
			return nil, err
		}
		c.read = bufio.NewReader(c.conn)
	}
	conn := c.conn
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	answer, err = c.exchange(command)
	var refused refusal
	if !stop() || err != nil && !errors.As(err, &refused) {
		conn.Close()
		c.conn = nil
		if ctx.Err() != nil {
			err = ctx.Err()
		}
	}
	return answer, err
}

// exchange speaks Redis's protocol: https://redis.io/docs/latest/develop/reference/protocol-spec/
func (c *client) exchange(command []string) ([]string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(command))
	for _, word := range command {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(word), word)
	}
	if _, err := io.WriteString(c.conn, b.String()); err != nil {
		return nil, err
	}
	return readAnswer(c.read)
}

func readAnswer(r *bufio.Reader) ([]string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimRight(line, "\r\n")
	if line == "" {
		return nil, errors.New("redis answered an empty line")
	}
	rest := line[1:]
	switch line[0] {
	case '+', ':':
		return []string{rest}, nil
	case '-':
		return nil, refusal(rest)
	case '$':
		n, err := strconv.Atoi(rest)
		if err != nil || n < -1 || n > 1<<20 {
			return nil, fmt.Errorf("redis answered %.80q", line)
		}
		if n < 0 {
			return []string{""}, nil
		}
		text := make([]byte, n+2)
		_, err = io.ReadFull(r, text)
		return []string{string(text[:n])}, err
	case '*':
		n, err := strconv.Atoi(rest)
		if err != nil || n > 100 {
			return nil, fmt.Errorf("redis answered %.80q", line)
		}
		var all []string
		for range n {
			one, err := readAnswer(r)
			if err != nil {
				return nil, err
			}
			all = append(all, one...)
		}
		return all, nil
	}
	return nil, fmt.Errorf("redis answered %.80q", line)
}

// Close ends the connection.
func (c *client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
	return nil
}
