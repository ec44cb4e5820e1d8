package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"recount/docker/agent"
	"recount/history"
	"recount/internal/hint"
)

// fuse tells whether disks can be made to fail, as far as that shows without a container.
func (e *Engine) fuse() Check {
	const name = "disks"
	if runtime.GOOS != "linux" || !strings.HasPrefix(e.api.DaemonHost(), "unix://") {
		return check(name, "whether the engine's machine has FUSE shows with --try", nil)
	}
	if _, err := os.Stat(fuse); errors.Is(err, os.ErrNotExist) {
		return check(name, "", hint.Add(fmt.Errorf("none can be made to fail: there is no %s", fuse), noFUSE))
	}
	return check(name, "/dev/fuse is there; whether the engine lets containers use it shows with --try", nil)
}

// tryDisks has a disk fail, and lose what was not synced. It takes a cluster of its own: where disks cannot be, all else
// still can.
func (e *Engine) tryDisks(ctx context.Context, image string) (checks []Check) {
	const name = "disks"
	c, err := e.Open(ctx, Config{
		Run: fmt.Sprintf("doctor-disks-%d", time.Now().UnixNano()), Nodes: []string{"n1"}, SelfImage: image, Disks: true,
	})
	if err != nil {
		return []Check{check(name, "", err)}
	}
	defer func() {
		if err := c.Close(ctx); err != nil {
			checks = append(checks, check(name, "", err))
		}
	}()
	if err := c.launchOnDisk(ctx, image); err != nil {
		return []Check{check(name, "", err)}
	}
	disk := func(s history.DiskState) history.Changes {
		return history.Changes{Disks: []history.Disk{{Node: "n1", DiskState: s}}}
	}
	crash := func(s history.ProcState) history.Changes {
		return history.Changes{Procs: []history.Proc{{Node: "n1", State: s}}}
	}
	return []Check{
		c.tryFault(ctx, "fill a disk", disk(history.DiskState{Full: true}), disk(history.DiskState{})),
		c.tryFault(ctx, "slow a disk", disk(history.DiskState{Slow: 50 * time.Millisecond}), disk(history.DiskState{})),
		c.tryFault(ctx, "fail a disk", disk(history.DiskState{WriteErrors: 1, SyncErrors: 1, ReadErrors: 1}), disk(history.DiskState{})),
		c.tryFault(ctx, "lose un-synced writes", crash(history.Crashed), crash(history.Up)),
	}
}

// launchOnDisk launches a node that uses its disk, and returns when it has: a fault of one that nobody uses is felt by nobody.
func (c *Cluster) launchOnDisk(ctx context.Context, image string) error {
	used, said := context.WithCancel(ctx)
	defer said()
	var line string
	c.Logs("n1", func(text string) {
		line = text
		said()
	})
	what := Container{Image: image, Command: []string{SelfPath, "anchor", "/data"}, Data: "/data"}
	if err := c.Launch(ctx, map[string]Container{"n1": what}); err != nil {
		return err
	}
	err := c.Run(used, c.Now()+applyWithin)
	switch {
	case line == agent.FolderUsed:
		return nil
	case line != "":
		return fmt.Errorf("the node does not get at its disk: %s", line)
	case err != nil:
		return err
	}
	return fmt.Errorf("the node did not use its disk within %v", applyWithin)
}
