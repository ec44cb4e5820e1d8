package harness_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness"
	"recount/harness/record"
	"recount/history"
)

// sameSystems are the real servers whose runs are made again and again.
var sameSystems = []struct {
	target, version string
	time            time.Duration // in which there is room for a fault
}{
	{"etcd", "3.6.16", 10 * time.Second},
	{"etcd", "3.4.15", 10 * time.Second},
	{"etcd", "3.7.3", 10 * time.Second},
	{"nats", "2.10.20", 25 * time.Second},
	{"nats", "2.12.15", 25 * time.Second},
	{"nats", "2.15.3", 25 * time.Second},
	{"hashicorp-raft", "1.7.3", 10 * time.Second},
	{"hashicorp-raft", "1.8.0", 10 * time.Second},
	{"dragonboat", "", 10 * time.Second},
	{"etcd-raft-server", "", 10 * time.Second},
	{"etcd-raft-server", "3.7.0", 10 * time.Second},
	{"seaweedfs-raft", "", 10 * time.Second},
	{"kubernetes-lease", "", 25 * time.Second},
	{"kubernetes-lease", "0.37.2", 25 * time.Second},
	{"etcd-election", "", 25 * time.Second},
}

// circumstances are what a process that makes a run finds, and what must not show in the run.
var circumstances = []struct {
	env    []string
	prefix []string
	away   bool // in another folder
}{
	{},
	{env: []string{"GOMAXPROCS=1"}, prefix: []string{"nice", "-n", "10"}},
	{env: []string{"GOMAXPROCS=8", "GOGC=20"}, prefix: []string{"taskset", "1"}},
	{env: []string{"TZ=Asia/Tokyo", "LANG=C"}, away: true},
	{env: []string{"PADDING=" + strings.Repeat("x", 100_000)}, prefix: []string{"nice", "-n", "19"}},
	{env: []string{"GOMAXPROCS=3", "GODEBUG=asyncpreemptoff=1"}, away: true},
	{prefix: []string{"sh", "-c", `ulimit -n 4096; exec "$@"`, "sh"}},
}

// asked is the environment variable by which a process is told of the plan whose run it is to make and to sum up.
const asked = "RECOUNT_TEST_PLAN"

// TestSameSeedSameRun has processes make one run each, of real servers under faults, and compares what they have written,
// byte by byte, and the hash of all that the servers did. RECOUNT_VIRTUAL_RUNS is how many processes there are for each seed and
// system; RECOUNT_VIRTUAL_SYSTEMS names systems to make it of, where not all are wanted.
func TestSameSeedSameRun(t *testing.T) {
	if plan := os.Getenv(asked); plan != "" {
		sumUp(t, plan)
		return
	}
	runs, err := strconv.Atoi(os.Getenv("RECOUNT_VIRTUAL_RUNS"))
	if err != nil {
		t.Skip("takes long: make virtual-same makes it")
	}
	only := os.Getenv("RECOUNT_VIRTUAL_SYSTEMS")
	for _, s := range sameSystems {
		name := strings.TrimSuffix(s.target+" "+s.version, " ")
		if only != "" && !strings.Contains(only, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			for seed := uint64(1); seed <= 5; seed++ {
				t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
					p := record.Plan{
						Target: s.target, On: record.OnVirtual, Nodes: 3, Seed: seed, Time: s.time,
						Faults: []string{"kill", "partition", "pause"}, Goroutines: record.Orders[seed%uint64(len(record.Orders))],
					}
					if s.version != "" {
						p.Options = map[string]string{"version": s.version}
					}
					_, err := harness.Programs(t.Context(), p, func(line string) { t.Log(line) })
					require.NoError(t, err)
					plan, err := json.Marshal(p)
					require.NoError(t, err)
					sums := map[string]int{}
					for i := range runs {
						sums[summed(t, string(plan), i)]++
					}
					t.Logf("%s: %v", p.Goroutines, sums)
					require.Len(t, sums, 1)
				})
			}
		})
	}
}

// summed has a process make the run, under circumstances that go by its number, and returns what it came to.
func summed(t *testing.T, plan string, number int) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	c := circumstances[number%len(circumstances)]
	args := append(c.prefix[:len(c.prefix):len(c.prefix)], self, "-test.run=^TestSameSeedSameRun$", "-test.v")
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Env = append(append(os.Environ(), c.env...), asked+"="+plan)
	if c.away {
		cmd.Dir = t.TempDir()
		cmd.Env = append(cmd.Env, "PWD="+cmd.Dir)
	}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	_, sum, ok := bytes.Cut(out, []byte("came to "))
	require.True(t, ok, "%s", out)
	sum, _, _ = bytes.Cut(sum, []byte("\n"))
	return string(sum)
}

// sumUp makes a run and prints what it came to.
func sumUp(t *testing.T, plan string) {
	var p record.Plan
	require.NoError(t, json.Unmarshal([]byte(plan), &p))
	written := sha256.New()
	run, err := harness.Glance(t.Context(), p, func(op *history.Op) { written.Write(append(op.AppendJSON(nil), '\n')) })
	require.NoError(t, err)
	require.True(t, run.Frame().Complete())
	require.NotEmpty(t, run.Events)
	fmt.Printf("came to %d ops, history %x, events %s\n", run.Frame().Count, written.Sum(nil)[:8], run.Events)
}
