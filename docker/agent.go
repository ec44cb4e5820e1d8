package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"

	"recount/internal/hint"
)

// agentConfig gives the agent the host's processes and the right to enter their networks, to change packet filters and
// control groups, and to look into processes, with disks also FUSE, and nothing else: no network, no file of the host.
func (c *Cluster) agentConfig() containerConfig {
	return containerConfig{
		container: container.Config{
			Image: c.config.SelfImage, Cmd: []string{SelfPath, "agent"},
			AttachStdin: true, AttachStdout: true, AttachStderr: true, OpenStdin: true, StdinOnce: true,
		},
		host: agentHost(c.config.Disks),
	}
}

// fuse is the device of the kernel's FUSE.
const fuse = "/dev/fuse"

const noFUSE = "modprobe fuse; until then leave out crash, lose-writes and the faults of disks"

// agentHost is what a container may do that acts on the engine's machine: see its processes and enter their namespaces.
func agentHost(disks bool) container.HostConfig {
	host := container.HostConfig{
		PidMode: "host", NetworkMode: network.NetworkNone, UsernsMode: "host", CgroupnsMode: "host",
		CapAdd:      []string{"NET_ADMIN", "SYS_ADMIN", "SYS_PTRACE"},
		SecurityOpt: []string{"apparmor=unconfined", "seccomp=unconfined", "label=disable"},
		LogConfig:   container.LogConfig{Type: "none"}, // its output is a protocol
	}
	if disks {
		host.Devices = []container.DeviceMapping{{PathOnHost: fuse, PathInContainer: fuse, CgroupPermissions: "rwm"}} // Podman knows no rules for devices
	}
	return host
}

func (c *Cluster) startAgent(ctx context.Context, id string) error {
	attached, err := c.engine.api.ContainerAttach(ctx, id, container.AttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	if err != nil {
		return fmt.Errorf("attach to the agent: %w", err)
	}
	c.remote, err = newRemote(attached, c.notice)
	if err != nil {
		return fmt.Errorf("attach to the agent: %w", err)
	}
	if err := c.engine.api.ContainerStart(ctx, id, container.StartOptions{}); err != nil {
		return withoutFUSE(fmt.Errorf("start the agent: %w", err))
	}
	if err := c.remote.open(); err != nil {
		return fmt.Errorf("speak to the agent, which says %q: %w", c.remote.words.String(), err)
	}
	return nil
}

// withoutFUSE adds a hint to an error of an engine, if it says that its machine has no FUSE.
func withoutFUSE(err error) error {
	if !strings.Contains(err.Error(), fuse) {
		return err
	}
	return hint.Add(err, noFUSE)
}

// watchAgent ends the run when the agent is lost, and finds out what became of it.
func (c *Cluster) watchAgent() {
	select {
	case <-c.ctx.Done():
		return
	case <-c.remote.gone:
	}
	ctx, cancel := context.WithTimeout(c.ctx, 10*time.Second)
	defer cancel()
	code, err := c.engine.exit(ctx, c.name("agent")) // of which the engine may hear later than we do
	switch {
	case c.ctx.Err() != nil:
		return
	case cerrdefs.IsNotFound(err):
		err = errors.New("the agent's container was removed")
	case c.remote.broke != nil:
		err = fmt.Errorf("the connection to the agent broke: %w", c.remote.broke)
	case errors.Is(err, context.DeadlineExceeded):
		err = errors.New("the connection to the agent broke")
	case err != nil:
		err = engineLost(err)
	default:
		err = fmt.Errorf("the agent ended with status %d, saying %q", code, c.remote.words.String())
	}
	c.lose(err)
}

func engineLost(err error) error { return fmt.Errorf("the Docker engine is lost: %w", err) }
