package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/docker/docker/api/types"

	"recount/docker/agent"
	"recount/history"
	"recount/internal/hint"
)

// Check is one thing that the container cluster needs.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"` // what to do about it
}

func check(name, detail string, err error) Check {
	if err != nil {
		return Check{Name: name, Detail: err.Error(), Hint: hint.Of(err)}
	}
	return Check{Name: name, OK: true, Detail: detail}
}

// Doctor tells whether this machine can run clusters of containers. With try it makes a small one and injects each
// fault into it once: what an engine's kernel cannot do shows in no other way.
func Doctor(ctx context.Context, try bool, progress func(string)) []Check {
	e, err := Connect(ctx)
	if err != nil {
		return []Check{check("engine", "", err)}
	}
	defer e.Close()
	checks := []Check{ofRelease(e.version)}
	path, err := e.self()
	if err == nil {
		err = CheckExecutable(path, e.version.Arch)
	}
	checks = append(checks, check("executable", path+" runs in an empty container", err), e.leftovers(ctx))
	if err != nil || !try {
		return append(checks, e.fuse())
	}
	image, err := e.SelfImage(ctx, progress)
	if err != nil {
		return append(checks, check("image", "", err))
	}
	checks = append(checks, e.tryFaults(ctx, image, progress)...)
	return append(checks, e.tryDisks(ctx, image)...)
}

// engines are the names of engines by what they call themselves among their components.
var engines = map[string]string{"Engine": "Docker", "Podman Engine": podman}

const podman = "Podman"

// nameOf is what an engine is called.
func nameOf(v types.Version) string {
	name := "an engine"
	for _, c := range v.Components {
		name = cmp.Or(engines[c.Name], name)
	}
	return name
}

// ofRelease tells which release an engine is, and what is known to be wrong with it.
func ofRelease(v types.Version) Check {
	name := nameOf(v)
	c := check("engine", fmt.Sprintf("%s %s, %s/%s, kernel %s", name, v.Version, v.Os, v.Arch, v.KernelVersion), nil)
	var at [3]int
	n, _ := fmt.Sscanf(v.Version, "%d.%d.%d", &at[0], &at[1], &at[2])
	if name == "Docker" && n == len(at) && slices.Compare(at[:], mendedRelease[:]) < 0 {
		c.Hint = fmt.Sprintf("before %d.%d.%d Docker may hang for good where containers leave a network at once (moby/moby#46661); "+
			"those of runs do not, but others may: update it", mendedRelease[0], mendedRelease[1], mendedRelease[2])
	}
	return c
}

// mendedRelease is the release of Docker since which two containers may leave a network at once: leave.go has more.
var mendedRelease = [...]int{20, 10, 27}

// leftovers counts what killed runs have left. It is untidy, but in nobody's way.
func (e *Engine) leftovers(ctx context.Context) Check {
	runs, err := e.runs(ctx)
	left := 0
	for _, things := range runs {
		if !inUse(things) {
			left++
		}
	}
	c := check("leftovers", "none", err)
	if left > 0 {
		c.Detail, c.Hint = fmt.Sprintf("killed runs that left containers, volumes or networks: %d", left), "recount clean removes them"
	}
	return c
}

// tryFaults injects each kind of fault into a cluster of two anchors.
func (e *Engine) tryFaults(ctx context.Context, image string, progress func(string)) (checks []Check) {
	config := Config{
		Run: fmt.Sprintf("doctor-%d", time.Now().UnixNano()), Nodes: []string{"n1", "n2"}, SelfImage: image, Log: progress, IPv6: true,
	}
	six := "links can be of IPv4 and IPv6, and faults of links are of both"
	c, err := e.Open(ctx, config)
	if err != nil {
		six = "links are of IPv4 alone: " + err.Error()
		config.IPv6 = false
		c, err = e.Open(ctx, config)
	}
	if err != nil {
		return []Check{check("cluster", "", err)}
	}
	defer func() {
		if err := c.Close(ctx); err != nil {
			checks = append(checks, check("cluster", "", err))
		}
	}()
	node := Container{Image: image, Command: []string{SelfPath, "anchor"}}
	if err := c.Launch(ctx, map[string]Container{"n1": node, "n2": node}); err != nil {
		return []Check{check("cluster", "", err)}
	}
	checks = append(checks, check("cluster", "two nodes are up", nil))
	checks = append(checks, check("addresses", six, nil))
	checks = append(checks, c.packets()...)
	for _, fault := range []struct {
		name         string
		inject, heal history.Changes
	}{
		{"cut links",
			history.Changes{Links: []history.Link{{From: "n1", To: "n2", LinkState: history.LinkState{Cut: true}}}},
			history.Changes{Links: []history.Link{{From: "n1", To: "n2"}}}},
		{"pause",
			history.Changes{Procs: []history.Proc{{Node: "n1", State: history.Paused}}},
			history.Changes{Procs: []history.Proc{{Node: "n1", State: history.Up}}}},
		{"kill and start",
			history.Changes{Procs: []history.Proc{{Node: "n1", State: history.Down}}},
			history.Changes{Procs: []history.Proc{{Node: "n1", State: history.Up}}}},
		{"skew clocks", clockOf(time.Minute, 0), clockOf(0, 0)},
		{"limit memory", history.ChangesOf(history.Memory{Node: "n1", Bytes: 1 << 30}), history.ChangesOf(history.Memory{Node: "n1"})},
		{"throttle", history.ChangesOf(history.CPU{Node: "n1", Share: 0.05}), history.ChangesOf(history.CPU{Node: "n1"})},
	} {
		checks = append(checks, c.tryFault(ctx, fault.name, fault.inject, fault.heal))
	}
	return checks
}

// packets tells what this kernel lets the agent do to packets, and by which of its means.
func (c *Cluster) packets() (checks []Check) {
	how := map[string]string{"delay packets": "and reorder and pace them: by the agent, through the kernel's " + c.means.Delay}
	for _, what := range agent.Powers {
		detail := how[what]
		if detail == "" {
			detail = "by nftables"
		}
		var err error
		if why, missing := c.means.Missing[what]; missing {
			err = fmt.Errorf("this kernel cannot: %s", why)
		}
		checks = append(checks, check(what, detail, err))
	}
	return checks
}

// tryFault injects a fault, heals it, and tells what was seen of both.
func (c *Cluster) tryFault(ctx context.Context, name string, inject, heal history.Changes) Check {
	injected, injectErr := c.try(ctx, inject)
	healed, healErr := c.try(ctx, heal)
	detail := fmt.Sprintf("seen in %v, healed in %v", injected.Round(100*time.Microsecond), healed.Round(100*time.Microsecond))
	return check(name, detail, errors.Join(injectErr, healErr))
}

// try applies a change and waits until it was looked at.
func (c *Cluster) try(ctx context.Context, change history.Changes) (took time.Duration, err error) {
	ctx, done := context.WithCancel(ctx)
	defer done()
	began, looked := c.Now(), false
	c.Apply(change, func(e history.Effect) {
		took, err, looked = c.Now()-began, e.Err, true
		done()
	})
	if lost := c.Run(ctx, began+applyWithin); !looked {
		return 0, unseen(lost)
	}
	return took, err
}

// unseen is the error of a change that was not looked at: over what ended the run, nil if that was the time.
func unseen(lost error) error {
	if lost == nil {
		return fmt.Errorf("the agent saw nothing within %v", applyWithin)
	}
	return fmt.Errorf("the agent saw nothing: %w", lost)
}
