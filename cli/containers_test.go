package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/volume"
	"github.com/docker/docker/client"
	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/history"
	"recount/internal/testalone"
	"recount/internal/testlong"
)

// These tests are what a person does: run the program, on real containers, and look at what it says and leaves behind.

// program builds recount, once, and skips the test where containers cannot run. CI has no excuse.
func program(t *testing.T) (path string, api *client.Client) {
	t.Helper()
	if testing.Short() {
		t.Skip("on containers; -short leaves that out")
	}
	api, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	require.NoError(t, err)
	t.Cleanup(func() { api.Close() })
	if _, err := api.Ping(context.Background()); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("no container engine: %v", err)
		}
		t.Skipf("no container engine: %v", err)
	}
	return build(t), api
}

var build = func() func(t *testing.T) string {
	var once sync.Once
	var path, problem string
	return func(t *testing.T) string {
		once.Do(func() {
			var err error
			path, err = filepath.Abs("../bin/recount-under-test") // ignored by git, and the same every time
			require.NoError(t, err)
			cmd := exec.Command("go", "build", "-trimpath", "-o", path, "../cmd/recount")
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				problem = string(out)
			}
		})
		require.Empty(t, problem)
		return path
	}
}()

// result is what --json prints.
type result struct {
	Run      string
	Status   int
	Verdicts []struct {
		Property, Verdict, Why string
		Promised               bool
	}
}

func (r *result) verdict(property string) string {
	for _, v := range r.Verdicts {
		if v.Property == property {
			return v.Verdict
		}
	}
	return "missing"
}

// other tells of a verdict that is another one than is wanted, "" if none is. None may accuse falsely.
func (r *result) other(t *testing.T, want map[string]string) (property string) {
	for name, want := range want {
		switch got := r.verdict(name); {
		case want == "valid" && got == "invalid":
			require.Failf(t, "falsely accused", "of breaking %s: %+v", name, r.Verdicts)
		case got != want:
			property = name + " is " + got
		}
	}
	return property
}

// onContainers runs recount and returns what it printed as JSON.
func onContainers(t *testing.T, args ...string) *result {
	path, _ := program(t)
	args = append(append([]string{"run"}, args...), "--on", "docker", "--json", "--results", t.TempDir())
	cmd := exec.Command(path, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	t.Logf("recount %s\n%s%s", strings.Join(args, " "), stderr.Bytes(), out)
	var r result
	require.NoError(t, json.Unmarshal(out, &r), "%v", err)
	require.Equal(t, r.Status, cmd.ProcessState.ExitCode())
	for _, file := range []string{"report.html", "report.txt", "junit.xml", "run.json", "verdicts.json", "repro", "nodes/n1.log"} {
		require.FileExists(t, filepath.Join(r.Run, file))
	}
	return &r
}

// shows makes a run on containers until it shows something, five times at most; lacks tells what a run does not, "" for
// nothing. A machine that stood still shows little: where it did in each of the runs, the test is skipped.
func shows(t *testing.T, lacks func(*result) string, args ...string) *result {
	t.Helper()
	steady := false
	var missing string
	for range 5 {
		r := onContainers(t, args...)
		if missing = lacks(r); missing == "" {
			return r
		}
		var stood time.Duration
		for _, op := range stored(t, r).Ops {
			if op.F == history.Stall {
				stood += time.Duration(op.Access.Value)
			}
		}
		t.Logf("not shown: %s; the machine stood still for %v", missing, stood)
		steady = steady || stood < 500*time.Millisecond
	}
	if !steady {
		t.Skip("the machine stood still in each of five runs: nothing can be shown on it")
	}
	require.Fail(t, "not shown", missing)
	return nil
}

func stored(t *testing.T, r *result) *history.History {
	f, err := os.Open(filepath.Join(r.Run, "history.jsonl"))
	require.NoError(t, err)
	defer f.Close()
	h, err := history.Parse(f)
	require.NoError(t, err)
	return h
}

// left lists what a run with such labels has left in the engine.
func left(t *testing.T, api *client.Client) (names []string) {
	ctx, label := context.Background(), filters.NewArgs(filters.Arg("label", "recount.run"))
	cs, err := api.ContainerList(ctx, container.ListOptions{All: true, Filters: label})
	require.NoError(t, err)
	for _, c := range cs {
		names = append(names, c.Names...)
	}
	ns, err := api.NetworkList(ctx, network.ListOptions{Filters: label})
	require.NoError(t, err)
	for _, n := range ns {
		names = append(names, n.Name)
	}
	vs, err := api.VolumeList(ctx, volume.ListOptions{Filters: label})
	require.NoError(t, err)
	for _, v := range vs.Volumes {
		names = append(names, v.Name)
	}
	return names
}

// ownLeft is left, of the runs that a process of this test has made: others may run beside it.
func ownLeft(t *testing.T, api *client.Client, dir string) (names []string) {
	for _, n := range left(t, api) {
		if strings.Contains(n, record.RunID(dir)) {
			names = append(names, n)
		}
	}
	return names
}

func TestScenariosOnContainers(t *testing.T) {
	const valid, invalid = "valid", "invalid"
	for _, c := range []struct {
		name string
		args []string
		want map[string]string
		long bool
	}{
		{"ping-pong/blazingmq-term", []string{"ping-pong"}, map[string]string{"no-ping-pong": invalid}, false},
		{"ping-pong/blazingmq-scouting", []string{"ping-pong", "--target", "blazingmq-scouting"}, map[string]string{"no-ping-pong": valid}, false},
		{"non-sticky/etcd-3.4.23", []string{"non-sticky-leader", "--target", "etcd", "--opt", "version=3.4.23"}, map[string]string{"sticky-leader": invalid}, false},
		{"non-sticky/etcd-3.6", []string{"non-sticky-leader", "--target", "etcd"}, map[string]string{"sticky-leader": valid}, false},
		{"fence/raft-prevote", []string{"--target", "raft-prevote", "--nodes", "3", "--nemesis", "isolate,pause,kill", "--workload", "fence", "--time", "15s", "--seed", "4"}, map[string]string{"fencing": valid, "monotonic-term": valid}, false},
		{"register/etcd", []string{"--target", "etcd", "--nodes", "3", "--nemesis", "isolate,kill,pause", "--workload", "register,wander", "--time", "15s", "--seed", "4"}, map[string]string{"linearizable": valid}, false},
		{"register/hashicorp-raft", []string{"--target", "hashicorp-raft", "--nodes", "3", "--nemesis", "isolate,kill,pause", "--workload", "register,wander", "--time", "15s", "--seed", "4"}, map[string]string{"linearizable": valid}, false},
		{"paused-leader/etcd", []string{"paused-leader", "--target", "etcd"}, map[string]string{"fencing": invalid}, false},
		{"ping-pong/raft-prevote", []string{"ping-pong", "--target", "raft-prevote"}, map[string]string{"no-ping-pong": valid}, true},
		{"non-sticky/blazingmq-term", []string{"non-sticky-leader"}, map[string]string{"sticky-leader": invalid}, true},
		{"non-sticky/raft", []string{"non-sticky-leader", "--target", "raft"}, map[string]string{"sticky-leader": invalid}, true},
		{"non-sticky/blazingmq-scouting", []string{"non-sticky-leader", "--target", "blazingmq-scouting"}, map[string]string{"sticky-leader": valid}, true},
		{"non-sticky/raft-prevote", []string{"non-sticky-leader", "--target", "raft-prevote"}, map[string]string{"sticky-leader": valid}, true},
		{"non-sticky/etcd-3.4.23-pre-vote", []string{"non-sticky-leader", "--target", "etcd", "--opt", "version=3.4.23", "--opt", "pre-vote=true"}, map[string]string{"sticky-leader": valid}, true},
		{"flapping/etcd-3.4.23", []string{"flapping-link", "--target", "etcd", "--opt", "version=3.4.23"}, map[string]string{"sticky-leader": invalid}, true},
		{"flapping/etcd-3.6", []string{"flapping-link", "--target", "etcd"}, map[string]string{"sticky-leader": valid, "no-ping-pong": valid}, true},
		{"non-sticky/hashicorp-raft-1.6.1", []string{"non-sticky-leader", "--target", "hashicorp-raft", "--opt", "version=1.6.1"}, map[string]string{"sticky-leader": invalid}, true},
		{"non-sticky/hashicorp-raft-1.7.3", []string{"non-sticky-leader", "--target", "hashicorp-raft"}, map[string]string{"sticky-leader": valid}, true},
		{"non-sticky/hashicorp-raft-1.8.0", []string{"non-sticky-leader", "--target", "hashicorp-raft", "--opt", "version=1.8.0"}, map[string]string{"sticky-leader": valid}, true},
		{"non-sticky/etcd-raft", []string{"non-sticky-leader", "--target", "etcd-raft"}, map[string]string{"sticky-leader": valid}, true},
		{"cut-link/nats-2.10.20", []string{"track/nats-ping-pong"}, map[string]string{"monotonic-term": invalid}, true},
		{"cut-link/nats-2.12.15", []string{"ping-pong", "--target", "nats", "--nodes", "3"}, map[string]string{"monotonic-term": valid}, true},
		{"paused-leader/etcd-fenced", []string{"paused-leader", "--target", "etcd", "--workload", "fence"}, map[string]string{"fencing": valid}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.long {
				testlong.Only(t)
			}
			t.Parallel() // two at a time: runs side by side must not disturb each other
			_, api := program(t)
			want := maps.Clone(c.want)
			want["single-leader-per-term"] = valid
			r := shows(t, func(r *result) string {
				if other := r.other(t, want); other != "" {
					return other
				}
				for _, op := range stored(t, r).Ops {
					if (op.F == history.Inject || op.F == history.Heal) && op.Type == history.Fail {
						return op.Fault.Name + ": " + op.Error
					}
				}
				if r.Status == 2 {
					return "an end: the status is 2"
				}
				return ""
			}, c.args...)
			require.Zero(t, r.Status)
			require.Empty(t, ownLeft(t, api, r.Run))
		})
	}
}

// begin starts a long run of a scenario, which is of that target, and returns when the first fault is injected.
func begin(t *testing.T, scenario, target string) (cmd *exec.Cmd, dir string, stderr *bytes.Buffer) {
	path, api := program(t)
	results := t.TempDir()
	cmd = exec.Command(path, "run", scenario, "--on", "docker", "--results", results)
	stderr = &bytes.Buffer{}
	cmd.Stderr = stderr
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool {
		runs, err := filepath.Glob(filepath.Join(results, target, "*", "history.jsonl"))
		require.NoError(t, err)
		if len(runs) == 0 {
			return false
		}
		dir = filepath.Dir(runs[0])
		text, err := os.ReadFile(runs[0])
		require.NoError(t, err)
		return bytes.Contains(text, []byte(`"f":"inject"`)) && len(ownLeft(t, api, dir)) > 0
	}, 3*time.Minute, 50*time.Millisecond, "the first fault is injected")
	return cmd, dir, stderr
}

func TestCtrlCHealsAndCleansUp(t *testing.T) {
	t.Parallel()
	_, api := program(t)
	cmd, dir, stderr := begin(t, "ping-pong", "blazingmq-term")
	first := time.Now()
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	time.Sleep(10 * time.Millisecond)
	if time.Since(first) < time.Second/2 { // later, on a machine that stood still, it would be a second Ctrl-C
		require.NoError(t, cmd.Process.Signal(syscall.SIGINT), "as timeout(1) does, to the program and to its group")
	}
	err := cmd.Wait()
	require.Error(t, err)
	require.Equal(t, 2, cmd.ProcessState.ExitCode(), "%s", stderr)
	require.Contains(t, stderr.String(), "heal cut-link")
	require.Empty(t, ownLeft(t, api, dir))
	text, err := os.ReadFile(filepath.Join(dir, "report.txt"))
	require.NoError(t, err)
	require.NotContains(t, string(text), "✓", "a run that was cut short shows nothing to be valid")
}

func TestCleanRemovesWhatAKilledRunLeft(t *testing.T) {
	t.Parallel()
	path, api := program(t)
	testalone.Wait(t) // now, as the run would be over while it waits
	cmd, dir, _ := begin(t, "ping-pong", "blazingmq-term")
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	require.NotEmpty(t, ownLeft(t, api, dir))
	out, err := exec.Command(path, "clean").CombinedOutput()
	t.Logf("%v\n%s", err, out) // an engine may be unable to part with what others left
	require.Contains(t, string(out), record.RunID(dir))
	require.Empty(t, ownLeft(t, api, dir))
	out, err = exec.Command(path, "check", filepath.Join(dir, "history.jsonl")).CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "status: 2", "its history can be read, and nothing in it is valid")
}

func TestDoctor(t *testing.T) {
	path, _ := program(t)
	out, err := exec.Command(path, "doctor").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "engine")
	out, err = exec.Command(path, "doctor", "--json").Output()
	require.NoError(t, err)
	var d diagnosis
	require.NoError(t, json.Unmarshal(out, &d))
	require.NotEmpty(t, d.Checks)
}
