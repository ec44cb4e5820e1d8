// Package redis is Redis: the election of a master by sentinels, and servers for elections through them.
package redis

import (
	"context"
	"errors"
	"net"
	"sync"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

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
	over *redis.Client
}

// ask has a question put to the server. Its error is a redis.Error where the server refused, and ctx's where ctx ended.
func (c *client) ask(ctx context.Context, question func(*redis.Client) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		conn, err := c.dial(ctx, Port)
		if err != nil {
			return err
		}
		c.conn, c.over = conn, redis.NewClient(overOne(conn))
	}
	conn := c.conn
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	err := question(c.over)
	var refused redis.Error
	if !stop() || err != nil && !errors.As(err, &refused) {
		c.hangUp()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
	}
	return err
}

// overOne has the library speak over a connection that is there already, say nothing that it is not asked to, and try
// nothing twice: the run's clients decide when to ask again. How long an answer may take is the context's to say.
func overOne(conn net.Conn) *redis.Options {
	given := false
	return &redis.Options{
		Dialer: func(context.Context, string, string) (net.Conn, error) {
			if given {
				return nil, net.ErrClosed
			}
			given = true
			return conn, nil
		},
		Protocol: 2, MaxRetries: -1, DialerRetries: 1, ReadTimeout: -1, WriteTimeout: -1, ContextTimeoutEnabled: true,
		ConnMaxIdleTime: -1, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
}

func (c *client) hangUp() {
	c.over.Close()
	c.conn.Close()
	c.conn, c.over = nil, nil
}

// Close ends the connection.
func (c *client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		c.hangUp()
	}
	return nil
}
