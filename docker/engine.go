// Package docker is the cluster of real containers: a private network a run, and for each node an anchor, which owns its
// network namespace and never dies, and the node's own container, which the nemesis may kill. One agent a run cuts links
// and sends signals; the harness reaches it, and through it every port of every node, over one attach to the engine, so
// that a remote engine serves as well as a local one.
package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/client"

	"recount/internal/hint"
)

// Engine is a connection to a container engine.
type Engine struct {
	api      *client.Client
	version  types.Version
	patience time.Duration // with what it is to make
}

// connectWithin is how long an engine may take to answer at first. It takes milliseconds, and a busy one seconds.
const connectWithin = 30 * time.Second

const noEngine = "start Docker, or say by DOCKER_HOST where it is; what is simulated needs none"

// Connect reaches the engine that DOCKER_HOST names, or else the docker command's current context, or else the default
// one, and agrees with it on a version of the API.
func Connect(ctx context.Context) (*Engine, error) { return connect(ctx, connectWithin) }

func connect(ctx context.Context, within time.Duration) (*Engine, error) {
	host, err := contextHost()
	if err != nil {
		return nil, hint.Add(fmt.Errorf("find the Docker engine: %w", err), "%s", noEngine)
	}
	options := []client.Opt{client.FromEnv, client.WithAPIVersionNegotiation()}
	if host != "" {
		options = append(options, client.WithHost(host))
	}
	api, err := client.NewClientWithOpts(options...)
	if err != nil {
		return nil, hint.Add(fmt.Errorf("connect to the Docker engine: %w", err), "%s", noEngine)
	}
	asking, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	version, err := api.ServerVersion(asking)
	if err != nil {
		api.Close()
		if asking.Err() != nil && ctx.Err() == nil {
			return nil, hint.Add(fmt.Errorf("the Docker engine at %s does not answer: it was asked %v ago", api.DaemonHost(), within), "restart it")
		}
		err = fmt.Errorf("connect to the Docker engine at %s: %w", api.DaemonHost(), err)
		if errors.Is(err, fs.ErrPermission) {
			return nil, hint.Add(err, "join the group that owns the socket; what is simulated needs no engine")
		}
		return nil, hint.Add(err, "%s", noEngine)
	}
	if version.Os != "linux" {
		api.Close()
		return nil, hint.Add(fmt.Errorf("the Docker engine runs %s containers", version.Os), "switch it to Linux containers")
	}
	return &Engine{api: api, version: version, patience: patience}, nil
}

// Absent tells whether Connect failed since no engine answers. One that may not be asked is there.
func Absent(err error) bool {
	return client.IsErrConnectionFailed(err) && !errors.Is(err, fs.ErrPermission)
}

// Version is the engine's own.
func (e *Engine) Version() string { return e.version.Version }

// Close ends the connection. Clusters are closed before it.
func (e *Engine) Close() error { return e.api.Close() }
