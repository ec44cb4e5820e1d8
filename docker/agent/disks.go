//go:build linux

package agent

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"recount/docker/agent/disk"
	"recount/history"
	"recount/internal/seed"
)

// volume is the disk of one node. Changes of it and looks at it come one after the other, as those of processes do.
type volume struct {
	space  *disk.Space
	disk   *disk.Disk
	served *disk.Attached
	path   string
	target string
	mark   disk.Mark // that the last crash was to leave
}

// attach mounts the disk of a node.
func (a *agent) attach(at Attach) error {
	p, err := a.place(at.Node)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.space == nil {
		if a.space, err = disk.EngineSpace(); err != nil {
			return err
		}
	}
	v := &volume{space: a.space, disk: disk.New(seed.New(at.Seed, "disk of "+at.Node)), path: at.Path, target: at.Target}
	v.disk.Watch(func() bool { return a.traps.writes(at.Node) })
	if err := a.space.Load(v.disk, at.Path); err != nil {
		return err
	}
	if v.served, err = a.space.Attach(v.disk, at.Path); err != nil {
		return err
	}
	p.volume = v
	return nil
}

// detach unmounts all disks. What still runs loses its files only with its end.
func (a *agent) detach() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var errs []error
	for _, p := range a.places {
		if p.volume != nil {
			errs = append(errs, p.volume.served.Detach())
			p.volume = nil
		}
	}
	return errors.Join(errs...)
}

// hurry lets go of processes that are to die: nobody does while it waits for its disk.
func (v *volume) hurry(dying []first) {
	v.served.Hurry(func() bool { return slices.ContainsFunc(dying, first.alive) })
}

// prepare leaves a mark on the disk of a machine that is about to die.
func (v *volume) prepare() error {
	v.mark = disk.Mark(time.Now().UnixNano())
	return v.served.Leave(v.mark)
}

// crash has the disk lose what was not synced, and mounts what is left for the machine's next life.
func (v *volume) crash() error {
	v.disk.Crash()
	return v.remount()
}

func (v *volume) remount() error {
	err := v.served.Detach()
	served, attachErr := v.space.Attach(v.disk, v.path)
	if attachErr == nil {
		v.served = served
	}
	return errors.Join(err, attachErr)
}

// set brings the disk into a state.
func (v *volume) set(s history.DiskState) error {
	was := v.disk.State()
	v.disk.Set(s)
	if s.Wiped && !was.Wiped {
		return v.remount()
	}
	if s.ReadErrors > was.ReadErrors {
		v.served.Forget() // what the kernel remembers would never fail
	}
	return nil
}

// changeDisks has machines' disks lose what was not synced, and their interfaces what they were given, and brings disks into states. The
// processes of the crashed are dead.
func (a *agent) changeDisks(o Apply, came *outcome) {
	for _, d := range o.Disks {
		if v := a.places[d.Node].volume; v != nil { // before its machine dies
			v.disk.Set(v.disk.State().And(d.Left()))
		}
	}
	for _, node := range o.Crash {
		came.note(node, "crash "+node, a.places[node].dies())
	}
	for _, d := range o.Disks {
		err := errNoDisk
		if v := a.places[d.Node].volume; v != nil {
			err = v.set(d.DiskState)
		}
		came.note(d.Node, "disk of "+d.Node, err)
	}
}

var (
	errNoDisk    = errors.New("it is on no disk that can fail")
	errUntouched = errors.New("nothing on it was ever read or written: is it where the node keeps its files?")
)

// disks tries the disks of nodes: whether they are in those states, and whether a crash has taken what it was to take.
func (v *Verified) disks(volumes map[string]*volume, procs map[string][]first, want history.Changes) {
	said := func(of history.State, wrong string, err error) {
		node := of.Key().Node
		switch {
		case err != nil:
			v.unsure(of.Key(), "disk of %s: %v", node, err)
		case wrong != "":
			v.wrong(of.Key(), "disk of %s %s", node, wrong)
		}
	}
	for _, p := range want.Procs {
		if vol := volumes[p.Node]; vol != nil && p.State == history.Crashed {
			wrong, err := vol.served.Find(vol.mark, wiped(want.Disks, p.Node))
			if wrong == "" && err == nil && !vol.disk.Touched() {
				err = errUntouched
			}
			said(p, wrong, err)
		}
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, d := range want.Disks {
		all.Go(func() {
			wrong, err := "", errNoDisk
			if vol := volumes[d.Node]; vol != nil {
				running := procs[d.Node]
				if dies(want.Procs, d.Node) {
					running = nil // for a moment it is still on the disk that it had
				}
				wrong, err = vol.try(d.DiskState, running)
			}
			mu.Lock()
			defer mu.Unlock()
			said(d, wrong, err)
		})
	}
	all.Wait()
}

// wiped tells of a node whether a change wipes its disk.
func wiped(disks []history.Disk, node string) bool {
	for _, d := range disks {
		if d.Node == node {
			return d.Wiped
		}
	}
	return false
}

// dies tells of a node whether a change ends its processes.
func dies(procs []history.Proc, node string) bool {
	return slices.ContainsFunc(procs, func(p history.Proc) bool {
		return p.Node == node && (p.State == history.Down || p.State == history.Crashed)
	})
}

func (v *volume) try(s history.DiskState, procs []first) (wrong string, err error) {
	if len(procs) > 0 && procs[0].alive() {
		switch holds, err := v.served.Holds(fmt.Sprintf("/proc/%d/root%s", procs[0].pid, v.target)); {
		case errors.Is(err, os.ErrNotExist): // it has ended since
		case err != nil:
			return "", err
		case !holds:
			return "is not what the node's data is on", nil
		}
	}
	if wrong, err = v.served.Try(s); wrong == "" && err == nil && s != (history.DiskState{}) && !v.disk.Touched() {
		err = errUntouched
	}
	return wrong, err
}

// diskStates are the states of all disks that are not healthy.
func (a *agent) diskStates() (all []history.Disk) {
	for _, p := range a.places {
		if p.volume == nil {
			continue
		}
		if s := p.volume.disk.State(); s != (history.DiskState{}) {
			all = append(all, history.Disk{Node: p.name, DiskState: s})
		}
	}
	return all
}

// Release unmounts what a killed run has left mounted on folders of volumes, from a container of its own.
func Release(paths []string) error {
	space, err := disk.EngineSpace()
	if err != nil {
		return err
	}
	defer space.Close()
	for _, path := range paths {
		err = errors.Join(err, space.Release(path))
	}
	return err
}
