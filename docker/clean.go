package docker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/volume"

	"recount/internal/hint"
)

// A thing is something in an engine that carries Recount's label.
type thing struct {
	name   string
	labels map[string]string
	role   string // containers
	alive  bool   // containers: running, or about to be
	image  string // containers
	folder string // volumes that a disk is mounted on
	remove func(ctx context.Context) error
}

const (
	// startWithin is how old a container may be that was not started yet.
	startWithin = time.Minute
	// extractWithin is how old one may be that never is, since files are taken out of it.
	extractWithin = 10 * time.Minute
)

// things lists what carries the label of a run, or with run "" of any, containers first: the order to remove them in.
func (e *Engine) things(ctx context.Context, run string) (containers, rest []thing, err error) {
	label := labelRun
	if run != "" {
		label += "=" + run
	}
	only := filters.NewArgs(filters.Arg("label", label))
	cs, err := e.api.ContainerList(ctx, container.ListOptions{All: true, Filters: only})
	if err != nil {
		return nil, nil, fmt.Errorf("list containers: %w", err)
	}
	for _, c := range cs {
		young := startWithin
		if c.Labels[labelRun] == runExtract {
			young = extractWithin
		}
		containers = append(containers, thing{
			name: strings.TrimPrefix(strings.Join(c.Names, ","), "/"), labels: c.Labels, role: c.Labels[labelRole], image: c.Image,
			alive: c.State == container.StateRunning ||
				c.State == container.StateCreated && time.Since(time.Unix(c.Created, 0)) < young,
			remove: func(ctx context.Context) error {
				return e.remove(ctx, c.ID, c.Labels[labelRole])
			},
		})
	}
	vs, err := e.api.VolumeList(ctx, volume.ListOptions{Filters: only})
	if err != nil {
		return nil, nil, fmt.Errorf("list volumes: %w", err)
	}
	for _, v := range vs.Volumes {
		t := thing{name: v.Name, labels: v.Labels, remove: func(ctx context.Context) error {
			return e.api.VolumeRemove(ctx, v.Name, true)
		}}
		if v.Labels[labelDisk] != "" {
			t.folder = v.Mountpoint
		}
		rest = append(rest, t)
	}
	ns, err := e.api.NetworkList(ctx, network.ListOptions{Filters: only})
	if err != nil {
		return nil, nil, fmt.Errorf("list networks: %w", err)
	}
	for _, n := range ns {
		rest = append(rest, thing{name: n.Name, labels: n.Labels, remove: func(ctx context.Context) error {
			return e.api.NetworkRemove(ctx, n.ID)
		}})
	}
	return containers, rest, nil
}

const (
	sweepWithin = time.Minute // an engine may be busy
	sweepWait   = 100 * time.Millisecond
)

// sweep removes all that carries the run's label, until nothing does any more, and returns the names of what it removed.
// Unless its disks are known to be detached, they are.
func (e *Engine) sweep(ctx context.Context, run string, detached bool) (removed []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, sweepWithin)
	defer cancel()
	var mu sync.Mutex
	remove := func(_ int, t thing) error {
		err := t.remove(ctx)
		if err != nil && !cerrdefs.IsNotFound(err) {
			return fmt.Errorf("remove %s: %w", t.name, err)
		}
		mu.Lock()
		defer mu.Unlock()
		if !slices.Contains(removed, t.name) {
			removed = append(removed, t.name)
		}
		return nil
	}
	for {
		containers, rest, listErr := e.things(ctx, run)
		if listErr == nil && len(containers)+len(rest) == 0 {
			slices.Sort(removed)
			return removed, nil
		}
		if err = listErr; err == nil && !detached {
			err = e.detach(ctx, run, containers, rest)
			detached = err == nil
		}
		// Most errors are no more than impatience: somebody else is removing it, or it is still in use.
		if err == nil {
			err = each(containers, remove)
		}
		if err == nil { // Podman lets networks go that containers which have ended are still in, and the bridges stay
			err = each(rest, remove)
		}
		if err == nil {
			continue
		}
		select {
		case <-ctx.Done():
			err = fmt.Errorf("remove what is left of run %s: %w", run, err)
			if listErr == nil && len(containers) == 0 {
				err = hint.Add(err, "the engine remembers connections of containers that are gone; restarting it helps")
			}
			return removed, err
		case <-time.After(sweepWait):
		}
	}
}

// detach unmounts the disks that are mounted on volumes among the things of a run.
func (e *Engine) detach(ctx context.Context, run string, containers, rest []thing) (err error) {
	var folders []string
	for _, t := range rest {
		if t.folder != "" {
			folders = append(folders, t.folder)
		}
	}
	if len(folders) == 0 {
		return nil
	}
	for _, t := range containers { // the agent's image is there as long as it is
		if t.role == roleAgent {
			return e.release(ctx, run, t.image, folders)
		}
	}
	image, err := e.SelfImage(ctx, nil)
	if err != nil {
		return err
	}
	return e.release(ctx, run, image, folders)
}

// runs lists what each run has in the engine.
func (e *Engine) runs(ctx context.Context) (map[string][]thing, error) {
	containers, rest, err := e.things(ctx, "")
	if err != nil {
		return nil, err
	}
	runs := map[string][]thing{}
	for _, t := range append(containers, rest...) {
		run := t.labels[labelRun]
		runs[run] = append(runs[run], t)
	}
	return runs, nil
}

// Clean removes what runs have left whose process was killed, and with all set also runs that are alive. It returns the
// names of what it removed.
func (e *Engine) Clean(ctx context.Context, all bool) (removed []string, err error) {
	runs, err := e.runs(ctx)
	if err != nil {
		return nil, fmt.Errorf("clean up: %w", err)
	}
	names, errs := make([][]string, len(runs)), make([]error, len(runs))
	_ = each(slices.Sorted(maps.Keys(runs)), func(i int, run string) error { // one may be stuck, the others need not wait for it
		if all || !inUse(runs[run]) {
			names[i], errs[i] = e.sweep(ctx, run, false)
		}
		return nil
	})
	removed, err = slices.Concat(names...), errors.Join(errs...)
	slices.Sort(removed)
	if err != nil {
		return removed, fmt.Errorf("clean up: %w", err)
	}
	return removed, nil
}

// inUse tells whether somebody still needs a run's things. The process that made them decides, where it can be looked
// at; what is extracted from images is of several processes, any of which may be at it. From elsewhere the agent speaks for it: it is
// the first thing of a run, and ends with the connection to its harness. For what is extracted from elsewhere its age does.
func inUse(things []thing) bool {
	decided := false
	for _, t := range things {
		alive, known := ownerAlive(t.labels[labelOwner])
		if known && alive || !known && t.alive && t.labels[labelRun] == runExtract {
			return true
		}
		decided = decided || known
	}
	return !decided && slices.ContainsFunc(things, func(t thing) bool { return t.role == roleAgent && t.alive })
}
