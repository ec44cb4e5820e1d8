package targets

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
	redisPort    = 6379
	sentinelPort = 26379
)

// redisClient asks one Redis server, over one connection that it keeps. Questions are asked one at a time.
type redisClient struct {
	dial election.Dial

	mu   sync.Mutex
	conn net.Conn // nil before the first question, and after one that failed
	read *bufio.Reader
}

// redisError is an error that the server answers with.
type redisError string

func (e redisError) Error() string { return string(e) }

// ask sends a command and returns the strings that the answer consists of: one, or those of a list.
func (c *redisClient) ask(ctx context.Context, command ...string) (answer []string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		if c.conn, err = c.dial(ctx, redisPort); err != nil {
			c.conn = nil
			return nil, err
		}
		c.read = bufio.NewReader(c.conn)
	}
	conn := c.conn
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	answer, err = c.exchange(command)
	var refused redisError
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
func (c *redisClient) exchange(command []string) ([]string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(command))
	for _, word := range command {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(word), word)
	}
	if _, err := io.WriteString(c.conn, b.String()); err != nil {
		return nil, err
	}
	return readRedis(c.read)
}

func readRedis(r *bufio.Reader) ([]string, error) {
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
		return nil, redisError(rest)
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
			one, err := readRedis(r)
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
func (c *redisClient) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
	return nil
}

// redisServer observes a Redis server of which nothing is asked but that it answers.
type redisServer struct{ redisClient }

// Observe pings it.
func (o *redisServer) Observe(ctx context.Context) (election.Status, bool, error) {
	if _, err := o.ask(ctx, "PING"); err != nil {
		return election.Status{}, false, fmt.Errorf("targets: ping redis: %w", err)
	}
	return election.Status{}, false, nil
}
