//go:build linux

package agent

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Control groups: what the kernel lets some processes have together. The engine has made one for each container. A machine has
// them in version 1, a hierarchy for each resource or a few, or in version 2, one for all, or in both. They are where the engine
// has them mounted, and reached through the root of the process that started this container.

// cgroups finds the groups of processes.
type cgroups struct {
	proc   string // where the kernel tells of processes: "/proc"
	engine string // of them, the one whose root it is
}

// hostGroups are those of the machine, as the engine sees them. It takes the host's pid namespace.
func hostGroups() cgroups { return cgroups{"/proc", fmt.Sprint(os.Getppid())} }

// group is the folder of a group, in a hierarchy of a version.
type group struct {
	dir     string
	version int
}

// errShared is that a container has no group to itself.
var errShared = errors.New("the engine gives its containers no control groups of their own")

// of returns the group in which a process has its part of a resource, such as "cpu". It is never one that this process or
// the engine is in, too.
func (c cgroups) of(pid, resource string) (g group, err error) {
	path, version, err := c.path(pid, resource)
	if err != nil {
		return g, err
	}
	for _, other := range []string{c.engine, "self"} {
		if own, _, err := c.path(other, resource); err == nil && (own == path || strings.HasPrefix(own, strings.TrimSuffix(path, "/")+"/")) {
			return g, errShared
		}
	}
	mounts, err := os.Open(filepath.Join(c.proc, c.engine, "mountinfo"))
	if err != nil {
		return g, fmt.Errorf("find the control groups: %w", err)
	}
	defer mounts.Close()
	lines := bufio.NewScanner(mounts)
	for lines.Scan() {
		// 36 35 98:0 ROOT MOUNTPOINT options … - TYPE SOURCE SUPEROPTIONS
		mount, fs, ok := strings.Cut(lines.Text(), " - ")
		fields, kind := strings.Fields(mount), strings.Fields(fs)
		if !ok || len(fields) < 5 || len(kind) < 3 {
			continue
		}
		if version == 1 && (kind[0] != "cgroup" || !slices.Contains(strings.Split(kind[2], ","), resource)) || version == 2 && kind[0] != "cgroup2" {
			continue
		}
		below, under := path, fields[3] == "/"
		if !under {
			below, under = strings.CutPrefix(path, fields[3])
		}
		if under {
			return group{filepath.Join(c.proc, c.engine, "root", fields[4], below), version}, nil
		}
	}
	return g, fmt.Errorf("the control groups of version %d are mounted nowhere where the engine sees them", version)
}

// path is a process's place in the hierarchy that has a resource, and of which version that is.
func (c cgroups) path(pid, resource string) (path string, version int, err error) {
	b, err := os.ReadFile(filepath.Join(c.proc, pid, "cgroup"))
	if err != nil {
		return "", 0, err
	}
	for line := range strings.Lines(string(b)) { // 4:cpu,cpuacct:/docker/…, and of version 2 0::/…
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(f) < 3:
		case f[1] == "":
			if version == 0 {
				path, version = f[2], 2
			}
		case slices.Contains(strings.Split(f[1], ","), resource):
			path, version = f[2], 1
		}
	}
	if version == 0 {
		return "", 0, fmt.Errorf("this kernel has no control groups for %s", resource)
	}
	return path, version, nil
}

// frozen tells whether the freezer has all processes of a process's group.
func (c cgroups) frozen(pid string) (bool, error) {
	g, err := c.of(pid, "freezer")
	if err != nil {
		return false, err
	}
	if g.version == 1 {
		state, err := g.read("freezer.state")
		return state == "FROZEN", err
	}
	frozen, err := g.count("cgroup.events", "frozen")
	return frozen == 1, err
}

// read reads one of the group's files.
func (g group) read(file string) (string, error) {
	b, err := os.ReadFile(filepath.Join(g.dir, file))
	return strings.TrimSpace(string(b)), err
}

// number reads one of the group's files that holds a number alone.
func (g group) number(file string) (int64, error) {
	text, err := g.read(file)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(text, 10, 64)
}

// write writes one of the group's files.
func (g group) write(file, text string) error {
	f, err := os.OpenFile(filepath.Join(g.dir, file), os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// count reads one of the numbers of a file that has a name and a number in each line; 0 if it is not there.
func (g group) count(file, name string) (n int64, err error) {
	text, err := g.read(file)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(text) {
		if value, is := strings.CutPrefix(line, name+" "); is {
			_, err := fmt.Sscan(value, &n)
			return n, err
		}
	}
	return 0, nil
}
