package docker

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/docker/docker/api/types/container"
)

// An engine may hang for good when two containers leave one network at the same time: Docker before 20.10.27 (mendedRelease) then takes the
// lock of the network and that of all networks in either order (moby/moby#46661). So containers that have a place in a
// network take turns at leaving it: the anchors of a run, and, since all agents have theirs in the network of those that
// have none, the agents of all runs that a machine makes.

const (
	leaveWithin = 20 * time.Second // somebody else's may never end
	leaveWait   = 5 * time.Millisecond
)

// remove removes a container. One that has a place in a network waits for its turn to leave it.
func (e *Engine) remove(ctx context.Context, id, role string) error {
	if role == roleAnchor || role == roleAgent || role == roleRelease {
		defer e.turn(ctx)()
	}
	return e.api.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
}

// part has the anchors of the run leave its network, and then its agent, as far as the engine does it in time: sweep removes the rest.
func (c *Cluster) part(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, sweepWithin/2)
	defer cancel()
	for _, name := range c.names {
		if anchor := c.nodes[name].anchor; anchor != "" {
			_ = c.engine.remove(ctx, anchor, roleAnchor)
		}
	}
	_ = c.engine.remove(ctx, c.name(roleAgent), roleAgent)
}

// turn waits until no container leaves a network of the engine, as far as this user's processes on this machine know, and returns what
// lets the next one leave. Turns that cannot be had are not waited for.
func (e *Engine) turn(ctx context.Context) (leave func()) {
	ctx, cancel := context.WithTimeout(ctx, leaveWithin)
	defer cancel()
	f, err := turns(e.api.DaemonHost())
	if err != nil {
		return func() {}
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil || !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			break
		}
		if ctx.Err() != nil {
			break
		}
		time.Sleep(leaveWait)
	}
	return func() { f.Close() }
}

// turns opens the file that is locked by whose turn it is.
func turns(host string) (*os.File, error) {
	cache, err := os.UserCacheDir()
	if err != nil { // no HOME
		cache = os.TempDir()
	}
	dir := filepath.Join(cache, "recount", "engines")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(host))
	return os.OpenFile(filepath.Join(dir, fmt.Sprintf("%x.lock", sum[:6])), os.O_CREATE|os.O_RDWR, 0o644)
}
