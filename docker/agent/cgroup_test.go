//go:build linux

package agent

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// tree is a machine's control groups, as files: process 7 is in a container, 1 is the engine's, and self this one.
func tree(t *testing.T, files map[string]string) cgroups {
	t.Helper()
	proc := t.TempDir()
	for path, text := range files {
		path = filepath.Join(proc, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return cgroups{proc, "1"}
}

// living is a process of this machine's that lives.
func living(t *testing.T, pid int) first {
	t.Helper()
	network, err := inode("/proc/self/ns/net")
	require.NoError(t, err)
	f := openFirst(pid, network)
	require.True(t, f.alive())
	return f
}

// join puts a process into the container that process 7 is in.
func (c cgroups) join(t *testing.T, f first) {
	t.Helper()
	require.NoError(t, os.Symlink("7", filepath.Join(c.proc, fmt.Sprint(f.pid))))
}

// mounts is the root of the engine, among the files of processes.
const mounts = "1/" + "root"

var (
	version1 = map[string]string{
		"1/mountinfo": "30 20 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n" +
			"31 30 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct\n" +
			"32 30 0:28 / /sys/fs/cgroup/memory rw shared:10 - cgroup cgroup rw,memory\n" +
			"34 30 0:30 / /sys/fs/cgroup/freezer rw shared:12 - cgroup cgroup rw,freezer\n" +
			"33 30 0:29 / /sys/fs/cgroup/unified rw shared:11 - cgroup2 cgroup2 rw\n",
		"1/cgroup":    "4:freezer:/system.slice\n3:memory:/system.slice\n2:cpu,cpuacct:/system.slice\n0::/system.slice\n",
		"self/cgroup": "4:freezer:/docker/agent\n3:memory:/docker/agent\n2:cpu,cpuacct:/docker/agent\n0::/\n",
		"7/cgroup":    "4:freezer:/docker/abc\n3:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n0::/docker/abc\n",
		mounts + "/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us":  "-1\n",
		mounts + "/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us": "100000\n",
		mounts + "/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.stat":          "nr_periods 9\nnr_throttled 4\nthrottled_time 12000000\n",
		mounts + "/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpuacct.usage":     "1500000\n",
		mounts + "/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes":  "9223372036854771712\n",
		mounts + "/sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes":  "41943040\n",
		mounts + "/sys/fs/cgroup/memory/docker/abc/memory.stat":            "cache 9\ntotal_inactive_file 10485760\n",
		mounts + "/sys/fs/cgroup/freezer/docker/abc/freezer.state":         "THAWED\n",
	}
	version2 = map[string]string{
		"1/mountinfo": "31 30 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n",
		"1/cgroup":    "0::/system.slice/engine.service\n",
		"self/cgroup": "0::/system.slice/docker-agent.scope\n",
		"7/cgroup":    "0::/system.slice/docker-abc.scope\n",
		mounts + "/sys/fs/cgroup/system.slice/docker-abc.scope/cpu.max":        "max 100000\n",
		mounts + "/sys/fs/cgroup/system.slice/docker-abc.scope/memory.max":     "max\n",
		mounts + "/sys/fs/cgroup/system.slice/docker-abc.scope/memory.current": "41943040\n",
		mounts + "/sys/fs/cgroup/system.slice/docker-abc.scope/memory.stat":    "anon 7\ninactive_file 10485760\n",
		mounts + "/sys/fs/cgroup/system.slice/docker-abc.scope/cpu.stat":       "usage_usec 1500\nuser_usec 1000\nnr_periods 9\nnr_throttled 4\nthrottled_usec 12000\n",
		mounts + "/sys/fs/cgroup/system.slice/docker-abc.scope/cgroup.events":  "populated 1\nfrozen 0\n",
	}
)

// What all wait for their disk is not frozen.
func TestTheFreezerIsAsked(t *testing.T) {
	for name, has := range map[string]struct {
		files       map[string]string
		file, state string
	}{
		"version 1": {version1, "/sys/fs/cgroup/freezer/docker/abc/freezer.state", "FROZEN\n"},
		"version 2": {version2, "/sys/fs/cgroup/system.slice/docker-abc.scope/cgroup.events", "populated 1\nfrozen 1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			c := tree(t, has.files)
			frozen, err := c.frozen("7")
			require.NoError(t, err)
			require.False(t, frozen)
			require.NoError(t, os.WriteFile(filepath.Join(c.proc, mounts, has.file), []byte(has.state), 0o644))
			frozen, err = c.frozen("7")
			require.NoError(t, err)
			require.True(t, frozen)
			_, err = c.frozen("self")
			require.ErrorIs(t, err, errShared)
		})
	}
}

func TestASharesQuotaIsWrittenAndTakenBack(t *testing.T) {
	for name, c := range map[string]cgroups{"version 1": tree(t, version1), "version 2": tree(t, version2)} {
		t.Run(name, func(t *testing.T) {
			held, err := c.throttling(7)
			require.NoError(t, err)
			require.Equal(t, bandwidth{noQuota, 100 * time.Millisecond}, held.was)
			used, err := held.used()
			require.NoError(t, err)
			require.Equal(t, 1500*time.Microsecond, used)
			n, err := held.count("cpu.stat", "nr_throttled")
			require.NoError(t, err)
			require.EqualValues(t, 4, n)

			want := shareOf(history.CPU{Node: "n1", Share: 0.035})
			wrong, err := held.held(want)
			require.NoError(t, err)
			require.Equal(t, "the kernel's quota is none, and should be 3.5ms in 100ms", wrong)
			require.NoError(t, held.limit(want))
			is, err := held.bandwidth()
			require.NoError(t, err)
			require.Equal(t, bandwidth{3500 * time.Microsecond, 100 * time.Millisecond}, is)
			wrong, err = held.held(want)
			require.NoError(t, err)
			require.Empty(t, wrong, "it is within its share")
			require.NoError(t, held.limit(held.was))
			is, err = held.bandwidth()
			require.NoError(t, err)
			require.Equal(t, held.was, is)
		})
	}
}

func TestALimitOfMemoryIsWrittenAndTakenBack(t *testing.T) {
	for name, c := range map[string]cgroups{"version 1": tree(t, version1), "version 2": tree(t, version2)} {
		t.Run(name, func(t *testing.T) {
			p := &place{name: "n1", groups: c, memory: memory{asked: history.Memory{Node: "n1"}}, procs: []first{living(t, os.Getpid())}}
			c.join(t, p.procs[0])
			s, err := c.squeezing(7)
			require.NoError(t, err)
			read := func() string {
				text, err := s.read(memoryFiles[s.version].limit)
				require.NoError(t, err)
				return text
			}
			none := read()
			uses, err := s.uses()
			require.NoError(t, err)
			require.EqualValues(t, 30<<20, uses, "what it has not touched for a while is none of that")

			require.NoError(t, p.squeeze(history.Memory{Node: "n1", Times: 1.5}))
			require.Equal(t, fmt.Sprint(45<<20), read())
			state, err := p.memoryState()
			require.NoError(t, err)
			require.Equal(t, history.Memory{Node: "n1", Times: 1.5}, state)
			p.memory.held = nil // another life
			require.NoError(t, s.write(memoryFiles[s.version].limit, none))
			require.NoError(t, s.write(memoryFiles[s.version].used, "4096"))
			require.NoError(t, p.press())
			require.Equal(t, fmt.Sprint(45<<20), read(), "what the earlier one might use")

			require.NoError(t, s.write(memoryFiles[s.version].limit, none)) // behind our back
			state, err = p.memoryState()
			require.NoError(t, err)
			require.Equal(t, history.Memory{Node: "n1"}, state)

			require.NoError(t, p.squeeze(history.Memory{Node: "n1", Times: 2, Bytes: 8000}))
			require.Equal(t, "4096", read(), "the smaller bound, in whole pages")
			require.NoError(t, p.squeeze(history.Memory{Node: "n1"}))
			require.Equal(t, none, read())
			state, err = p.memoryState()
			require.NoError(t, err)
			require.False(t, state.Fails())
		})
	}
}

// Containers of a node end one after the other: what is beside one that is dead is limited as ever, and whoever has the number of that
// now is not.
func TestALimitOfMemoryIsOfThoseThatRun(t *testing.T) {
	p := &place{name: "n1", groups: tree(t, version2), procs: []first{{pid: 7}}}
	s, err := p.groups.squeezing(7)
	require.NoError(t, err)
	limited := func() string {
		require.NoError(t, p.squeeze(history.Memory{Node: "n1", Times: 2}))
		text, err := s.read(memoryFiles[2].limit)
		require.NoError(t, err)
		return text
	}
	require.Equal(t, "max", limited())
	require.Empty(t, p.memory.bounds)

	p.procs = append(p.procs, living(t, os.Getpid()))
	p.groups.join(t, p.procs[1])
	require.Equal(t, fmt.Sprint(60<<20), limited())
	require.Equal(t, map[int]int64{1: 60 << 20}, p.memory.bounds, "what nobody has seen run has no limit yet")
}

// What went wrong once is tried again whole: a container that was not found then is held back like the others.
func TestAShareIsOfAllContainersOrNone(t *testing.T) {
	other := exec.Command("sleep", "60")
	require.NoError(t, other.Start())
	t.Cleanup(func() { _ = other.Process.Kill(); _ = other.Wait() })
	own, beside := living(t, os.Getpid()), living(t, other.Process.Pid)
	p := &place{name: "n1", groups: tree(t, version2), procs: []first{beside, own}}
	p.groups.join(t, beside) // the other has no group at first
	share := history.CPU{Node: "n1", Share: 0.05}
	require.Error(t, p.throttle(share))
	p.groups.join(t, own)
	require.NoError(t, p.throttle(share))
	require.Len(t, p.processor.held, 2)
}

// The number of a process that has ended may be another's by now, which is not to be held back.
func TestAShareIsOfThoseThatRun(t *testing.T) {
	p := &place{name: "n1", groups: tree(t, version1), procs: []first{{pid: 7}}}
	require.NoError(t, p.throttle(history.CPU{Node: "n1", Share: 0.05}))
	require.Empty(t, p.processor.held)
	stranger, err := p.groups.throttling(7)
	require.NoError(t, err)
	require.Equal(t, noQuota, stranger.was.quota)
}

// A kernel that lets a node have more than its share, and never holds it back, is found out.
func TestWhoUsesMoreThanItsShareIsSeen(t *testing.T) {
	c := tree(t, version1)
	held, err := c.throttling(7)
	require.NoError(t, err)
	want := shareOf(history.CPU{Node: "n1", Share: 0.05})
	require.NoError(t, held.limit(want))
	stop := make(chan struct{})
	over := make(chan struct{})
	go func() {
		defer close(over)
		began := time.Now()
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				text := []byte(fmt.Sprint(100 * int64(time.Since(began))))
				next := filepath.Join(held.dir, "next")
				if os.WriteFile(next, text, 0o644) == nil {
					_ = os.Rename(next, filepath.Join(held.accounts.dir, "cpuacct.usage"))
				}
			}
		}
	}()
	wrong, err := held.held(want)
	close(stop)
	<-over
	require.NoError(t, err)
	require.Contains(t, wrong, "are its share")
}

func TestGroupsOfOthersAreLeftAlone(t *testing.T) {
	for name, path := range map[string]string{"the machine's": "/", "the engine's": "/system.slice", "this one": "/docker/agent", "one above": "/docker"} {
		files := map[string]string{}
		for k, v := range version1 {
			files[k] = v
		}
		files["7/cgroup"] = "2:cpu,cpuacct:" + path + "\n"
		_, err := tree(t, files).throttling(7)
		require.ErrorIs(t, err, errShared, name)
	}
}

// Where the engine itself runs in a container, its mounts show a part of the hierarchy.
func TestGroupsAreFoundUnderWhatIsMounted(t *testing.T) {
	c := tree(t, map[string]string{
		"1/mountinfo": "31 30 0:27 /docker/outer /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n",
		"1/cgroup":    "2:cpu:/docker/outer\n", "self/cgroup": "2:cpu:/docker/outer/docker/agent\n",
		"7/cgroup": "2:cpu:/docker/outer/docker/abc\n",
	})
	g, err := c.of("7", "cpu")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(c.proc, mounts+"/sys/fs/cgroup/cpu/docker/abc"), g.dir)
	_, err = c.of("7", "memory")
	require.ErrorContains(t, err, "no control groups for memory")
}
