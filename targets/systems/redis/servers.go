package redis

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"recount/election"
)

// Servers are Redis servers that know nothing of each other.
type Servers struct {
	Version    string
	Persistent bool // each write is on disk before it is answered
}

// Image names the recipe.
func (s *Servers) Image() election.Image {
	return election.Image{Recipe: Name, Version: s.Version}
}

// Container starts a server.
func (s *Servers) Container(election.Member, []election.Member) election.Container {
	appends := "no"
	if s.Persistent {
		appends = "yes"
	}
	return election.Container{Data: "/data", Command: []string{
		"/usr/bin/redis-server", "--bind", "0.0.0.0", "--protected-mode", "no", "--dir", "/data",
		"--save", "", "--appendonly", appends, "--appendfsync", "always",
	}}
}

// Observer asks a server for nothing but that it answers.
func (s *Servers) Observer(_ election.Member, _ []election.Member, dial election.Dial) election.Observer {
	return &pinger{client{dial: dial}}
}

// pinger observes a server of which nothing is asked but that it answers.
type pinger struct{ client }

// Observe pings it.
func (o *pinger) Observe(ctx context.Context) (election.Status, bool, error) {
	if err := o.ask(ctx, func(server *redis.Client) error { return server.Ping(ctx).Err() }); err != nil {
		return election.Status{}, false, fmt.Errorf("ping redis: %w", err)
	}
	return election.Status{}, false, nil
}
