package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/client"
	"github.com/stretchr/testify/require"
)

// What becomes of a run when what it stands on gives way. docs/limits.md has the table. An engine that is to be ended or
// stopped is one of the test's own, in a network namespace of its own, beside the one that others use.

// opted skips a test that "go test ./..." does not make: "make surroundings" does.
func opted(t *testing.T) {
	t.Helper()
	if os.Getenv("RECOUNT_SURROUNDINGS") == "" {
		t.Skip("make surroundings: it takes root, dockerd, and a minute")
	}
}

// engine is an engine of the test's own.
type engine struct {
	t     *testing.T
	dir   string
	cmd   *exec.Cmd
	ended chan struct{} // closed when cmd has
}

func ownEngine(t *testing.T) *engine {
	opted(t)
	e := &engine{t: t, dir: t.TempDir()}
	require.NoError(t, os.WriteFile(e.dir+"/daemon.json", []byte("{}"), 0o644))
	e.start()
	t.Cleanup(func() {
		e.stop()
		for _, mounted := range e.mounts() {
			_ = syscall.Unmount(mounted, syscall.MNT_DETACH)
		}
	})
	return e
}

func (e *engine) host() string { return "unix://" + e.dir + "/sock" }

// start starts the engine, again if it crashes over what it finds from its last life, as service managers do.
func (e *engine) start() {
	log, err := os.OpenFile(e.dir+"/log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	require.NoError(e.t, err)
	defer log.Close()
	launch := func() {
		e.cmd = exec.Command("unshare", "--net", "dockerd", "--config-file", e.dir+"/daemon.json", "--data-root", e.dir+"/root",
			"--exec-root", e.dir+"/exec", "--pidfile", e.dir+"/pid", "--host", e.host(), "--storage-driver", "vfs")
		e.cmd.Stdout, e.cmd.Stderr = log, log
		require.NoError(e.t, e.cmd.Start())
		ended, cmd := make(chan struct{}), e.cmd
		e.ended = ended
		go func() {
			defer close(ended)
			_ = cmd.Wait()
		}()
	}
	launch()
	api := e.api()
	for deadline := time.Now().Add(time.Minute); ; {
		if _, err := api.Ping(context.Background()); err == nil {
			return
		}
		if time.Now().After(deadline) {
			text, _ := os.ReadFile(log.Name())
			lines := strings.Split(string(text), "\n")
			e.t.Fatalf("the engine does not start:\n%s", strings.Join(lines[max(0, len(lines)-20):], "\n"))
		}
		select {
		case <-e.ended:
			launch()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (e *engine) api() *client.Client {
	api, err := client.NewClientWithOpts(client.WithHost(e.host()), client.WithAPIVersionNegotiation())
	require.NoError(e.t, err)
	return api
}

func (e *engine) stop() {
	_ = e.cmd.Process.Signal(syscall.SIGTERM)
	<-e.ended
}

func (e *engine) mounts() (points []string) {
	text, err := os.ReadFile("/proc/self/mounts")
	require.NoError(e.t, err)
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(f[1], e.dir) {
			points = append(points, f[1])
		}
	}
	return points
}

// ending is what a run came to.
type ending struct {
	status      int
	out, errors string
	dir         string // the run's folder
}

// runs runs recount under way, calls meanwhile once the nemesis has done something, and waits for the end.
func runs(t *testing.T, host, results, limits string, meanwhile func(), args ...string) ending {
	t.Helper()
	cmd := exec.Command("sh", append([]string{"-c", limits + ` exec "$@"`, "sh", build(t)}, append(args, "--results", results)...)...)
	cmd.Env = append(os.Environ(), "DOCKER_HOST="+host)
	var out bytes.Buffer
	said, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	require.NoError(t, err)
	defer said.Close()
	errors := func() string {
		b, err := os.ReadFile(said.Name())
		require.NoError(t, err)
		return string(b)
	}
	cmd.Stdout, cmd.Stderr = &out, said
	require.NoError(t, cmd.Start())
	if meanwhile != nil {
		require.Eventually(t, func() bool { return strings.Contains(errors(), "took effect") }, 2*time.Minute, 50*time.Millisecond)
		meanwhile()
	}
	_ = cmd.Wait()
	e := ending{cmd.ProcessState.ExitCode(), out.String(), errors(), ""}
	e.dir, _ = filepath.EvalSymlinks(filepath.Join(results, "latest"))
	t.Logf("status %d\n%s%s", e.status, e.errors, e.out)
	return e
}

// lastWords is what a run said of its end: an error in one line, with its hint.
func (e ending) lastWords() string {
	lines := strings.Split(strings.TrimSpace(e.errors), "\n")
	return strings.Join(lines[max(0, len(lines)-2):], "\n")
}

func TestAnEngineThatRestarts(t *testing.T) {
	e := ownEngine(t)
	ended := runs(t, e.host(), t.TempDir(), "", func() { e.stop(); e.start() },
		"run", "--target", "raft", "--on", "docker", "--time", "20s", "--seed", "3", "--nemesis", "kill")
	require.Equal(t, 255, ended.status)
	require.Contains(t, ended.lastWords(), "what was recorded lies in")
	require.Contains(t, ended.lastWords(), "hint: was the engine restarted")
	require.Equal(t, 1, strings.Count(ended.errors, "is gone"), "it is said once")
	h, err := os.ReadFile(filepath.Join(ended.dir, "history.jsonl"))
	require.NoError(t, err)
	require.Greater(t, bytes.Count(h, []byte("\n")), 100)
	clean := exec.Command(build(t), "clean", "--all")
	clean.Env = append(os.Environ(), "DOCKER_HOST="+e.host())
	out, err := clean.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Empty(t, left(t, e.api()))
}

func TestAnEngineThatHangs(t *testing.T) {
	e := ownEngine(t)
	ended := runs(t, e.host(), t.TempDir(), "", func() {
		require.NoError(t, e.cmd.Process.Signal(syscall.SIGSTOP))
		time.Sleep(30 * time.Second)
		require.NoError(t, e.cmd.Process.Signal(syscall.SIGCONT))
	}, "run", "--target", "raft", "--on", "docker", "--time", "20s", "--seed", "3", "--nemesis", "kill")
	require.Equal(t, 2, ended.status, "nobody is accused of what nobody saw")
	require.FileExists(t, filepath.Join(ended.dir, "report.html"))
	require.Empty(t, left(t, e.api()))
}

// An engine whose machine drops what its bridges forward has every node alone.
func TestAnEngineWhoseMachineDropsPackets(t *testing.T) {
	e := ownEngine(t)
	pid, err := os.ReadFile(e.dir + "/pid")
	require.NoError(t, err)
	drop := exec.Command("nsenter", "--target", strings.TrimSpace(string(pid)), "--net", "iptables", "-I", "DOCKER-USER", "-j", "DROP")
	if out, err := drop.CombinedOutput(); err != nil {
		t.Skipf("needs iptables: %s", out)
	}
	ended := runs(t, e.host(), t.TempDir(), "", nil, "run", "--target", "raft", "--on", "docker", "--time", "5s", "--seed", "3")
	require.Equal(t, 255, ended.status)
	require.Contains(t, ended.errors, "nodes do not reach each other, though nothing was done to them")
	require.Contains(t, ended.errors, "hint: does a firewall")
	require.Empty(t, left(t, e.api()))
}

// smallFolder is a folder on a disk of so many bytes.
func smallFolder(t *testing.T, size string) string {
	dir := t.TempDir()
	if err := syscall.Mount("recount-test", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("needs root to mount a small disk: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	return dir
}

func TestAResultsFolderThatIsFull(t *testing.T) {
	ended := runs(t, "", smallFolder(t, "300k"), "", nil, "run", "--target", "raft", "--time", "5m", "--seed", "3")
	require.Equal(t, 255, ended.status)
	require.Regexp(t, `^recount: write the history: .*no space left on device.*\nrecount: hint: make room, or .*$`, ended.lastWords())
	require.NotContains(t, ended.errors, "goroutine")
	require.NotContains(t, ended.errors, ".part", "a file is told of by its own name")

	_, api := program(t)
	ended = runs(t, os.Getenv("DOCKER_HOST"), smallFolder(t, "100k"), "", nil,
		"run", "--target", "raft", "--on", "docker", "--time", "24h", "--seed", "3") // which is not waited for
	require.Equal(t, 255, ended.status)
	require.Contains(t, ended.lastWords(), "no space left on device")
	requireNothingOf(t, api, ended)
}

// What was found is told, and is what the command ends with, where there is no room to keep it.
func TestWhatIsFoundIsToldWithoutRoomToKeepIt(t *testing.T) {
	ended := runs(t, "", smallFolder(t, "64k"), "", nil, "hunt", "--target", "raft", "--opt", "forget-vote=true", "--property", "single-leader-per-term",
		"--nodes", "3", "--seed", "1", "--runs", "2000", "--shrink-budget", "1s")
	require.Equal(t, 1, ended.status)
	require.Regexp(t, `single-leader-per-term broke in run \d+, with 3 nodes and`, ended.out)
	require.Regexp(t, `run +not kept; its seed is \d+`, ended.out)
	require.Contains(t, ended.errors, "no space left on device")

	folder := smallFolder(t, "64k")
	file := filepath.Join(t.TempDir(), "suite.yaml")
	require.NoError(t, os.WriteFile(file, []byte("scenarios: [non-sticky-leader]\ntargets: [raft]\nseeds: 1-20\n"), 0o644))
	ended = runs(t, "", folder, "", nil, "run", "--suite", file)
	require.Regexp(t, `1\d not run, 1 failed`, ended.out, "no other run is begun")
	require.NotContains(t, ended.out, "report:")
	require.Contains(t, ended.out, "non-sticky-leader  raft", "what came of the runs is told, though no report of it could be written")
	require.Contains(t, ended.errors, "no space left on device")
}

// Where nothing can be kept of a run there is no folder of it either.
func TestNoEmptyFoldersWithoutRoom(t *testing.T) {
	for _, args := range [][]string{
		{"run", "--target", "raft", "--seed", "3"},
		{"hunt", "--target", "raft", "--property", "sticky-leader", "--seed", "1"},
	} {
		folder := smallFolder(t, "64k")
		require.ErrorIs(t, os.WriteFile(filepath.Join(folder, "somebody's"), make([]byte, 128<<10), 0o644), syscall.ENOSPC)
		ended := runs(t, "", folder, "", nil, args...)
		require.Contains(t, ended.lastWords(), "no space left on device")
		runs, err := filepath.Glob(filepath.Join(folder, "raft", "*"))
		require.NoError(t, err)
		require.Empty(t, runs)
	}
}

// requireNothingOf requires that a run has left nothing in the engine, where others may run as well.
func requireNothingOf(t *testing.T, api *client.Client, ended ending) {
	id := filepath.Base(ended.dir)
	for _, name := range left(t, api) {
		require.NotContains(t, name, id)
	}
}

func TestSixtyFourDescriptors(t *testing.T) {
	_, api := program(t)
	ended := runs(t, os.Getenv("DOCKER_HOST"), t.TempDir(), "ulimit -n 64;", nil,
		"run", "--target", "raft", "--on", "docker", "--time", "5s", "--seed", "3", "--nemesis", "kill")
	require.Contains(t, []int{0, 2}, ended.status, "as without a limit: 2 on a busy machine")
	requireNothingOf(t, api, ended)
}

func TestTwoHundredMegabytes(t *testing.T) {
	opted(t)
	var limits string
	for root, file := range map[string]string{"/sys/fs/cgroup/memory": "memory.limit_in_bytes", "/sys/fs/cgroup": "memory.max"} {
		dir := filepath.Join(root, "recount-test-"+strconv.Itoa(os.Getpid()))
		if _, err := os.Stat(filepath.Join(root, "cgroup.procs")); err != nil || os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(dir) })
		if os.WriteFile(filepath.Join(dir, file), []byte("200M"), 0o644) == nil {
			limits = fmt.Sprintf("echo $$ > %s/cgroup.procs;", dir)
			break
		}
	}
	if limits == "" {
		t.Skip("needs a control group of memory")
	}
	ended := runs(t, "", t.TempDir(), limits, nil, "run", "--target", "raft", "--time", "20m", "--seed", "3", "--nemesis", "all")
	require.Equal(t, 0, ended.status)
	ended = runs(t, "", t.TempDir(), limits, nil, "run", "--target", "raft", "--time", "2h", "--seed", "3", "--nemesis", "all")
	require.Equal(t, 254, ended.status, "rather than being killed in the middle of it")
	require.Contains(t, ended.errors, "fit into memory")
	require.Contains(t, ended.errors, "hint: take a --time of")
}
