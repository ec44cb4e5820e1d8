package docker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/volume"
)

// Container is what a node runs.
type Container struct {
	Image    string
	Command  []string          // none leaves the image's own
	Env      []string          // "KEY=value"
	Data     string            // the folder whose contents outlive the container's process; "" for none
	Log      string            // the file that its process writes its log to, besides its output; "" for none
	Dir      string            // that the command begins in; "" for the image's own
	Shared   string            // the folder that it shares with all containers that have one; "" for none
	Own      string            // a second such folder, of what Recount itself keeps there: no fault reaches it; "" for none
	Files    map[string]string // by their whole path: they are there before the process first starts
	Sidecars []Container
	// Capabilities are those of Linux that its processes have besides the engine's default.
	Capabilities []string
}

// Launch starts nodes, at once; those that are not named may come by another Launch. Sidecars share their node's network and its fate: they are paused, killed and started
// together, and when one of them ends, all do.
func (c *Cluster) Launch(ctx context.Context, nodes map[string]Container) error {
	began := time.Now()
	for name := range nodes {
		if c.nodes[name] == nil {
			return fmt.Errorf("launch the cluster of containers: no node %q", name)
		}
	}
	during, cancel := c.engine.outlast(ctx)
	defer cancel()
	names := slices.Sorted(maps.Keys(nodes))
	err := each(names, func(_ int, name string) error {
		n, what := c.nodes[name], nodes[name]
		all := append([]Container{what}, what.Sidecars...)
		made := make([]string, len(all))
		err := each(all, func(i int, what Container) (err error) {
			made[i], err = c.createNode(during, n, 1, i, what)
			return err
		})
		c.containers.Lock() // where some are launched later, all are asked meanwhile
		n.containers, n.logFile = made, what.Log
		c.containers.Unlock()
		if err == nil && what.Log != "" && n.logs != nil {
			err = c.tail(during, n)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		return c.start(during, n)
	})
	if err != nil {
		return fmt.Errorf("launch the cluster of containers: %w", hung(during, err))
	}
	up := 0
	for _, n := range c.nodes {
		if n.life != nil {
			up++
		}
	}
	c.config.Log(fmt.Sprintf("nodes up: %d (%v)", up, time.Since(began).Round(time.Millisecond)))
	return nil
}

// createNode makes the container of a node, or with i above 0 that of a sidecar. It is the member-th that has its place.
func (c *Cluster) createNode(ctx context.Context, n *node, member, i int, what Container) (id string, err error) {
	name, role := n.name, roleNode
	if i > 0 {
		name, role = fmt.Sprintf("%s-sidecar-%d", n.name, i), roleSidecar
	}
	data, own, shared := c.name(name), c.name(name+"-own"), c.name("shared") // volumes, of all containers that have this place, and of all places
	if member > 1 {
		name = fmt.Sprintf("%s-member-%d", name, member)
	}
	config := containerConfig{
		container: container.Config{Image: what.Image, Cmd: what.Command, Env: what.Env, WorkingDir: what.Dir},
		host: container.HostConfig{
			NetworkMode:   container.NetworkMode("container:" + n.anchor),
			RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyDisabled},
			CapAdd:        what.Capabilities,
			LogConfig:     container.LogConfig{Type: "json-file"}, // which can be read back, whatever the engine prefers
		},
	}
	if nameOf(c.engine.version) == podman {
		config.container.Hostname = n.name // in Docker that of the anchor is the node's as well, and here it may not be said
	}
	disk := i == 0 && what.Data != "" && c.config.Disks
	for _, of := range []struct{ volume, target string }{{data, what.Data}, {own, what.Own}, {shared, what.Shared}} {
		if of.target == "" {
			continue
		}
		v := volume.CreateOptions{Name: of.volume, Labels: maps.Clone(c.labels)}
		if disk && of.volume == data {
			v.Labels[labelDisk] = n.name
		}
		if _, err := c.engine.api.VolumeCreate(ctx, v); err != nil {
			return "", fmt.Errorf("create volume %s: %w", v.Name, err)
		}
		config.host.Mounts = append(config.host.Mounts, mount.Mount{Type: mount.TypeVolume, Source: v.Name, Target: of.target})
	}
	if what.Shared != "" { // the engine puts into an empty volume what the image has there: once, and before anybody writes to it
		c.filling.Lock()
	}
	id, err = c.create(ctx, c.name(name), role, n.name, config)
	if what.Shared != "" {
		c.filling.Unlock()
	}
	if err == nil {
		err = c.engine.writeFiles(ctx, id, what.Files)
	}
	if err == nil && disk && !n.onDisk { // the engine has put into the volume what the image has there
		err = c.attach(ctx, n, data, what.Data)
	}
	return id, err
}
