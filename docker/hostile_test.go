package docker

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// hostile opens a cluster of two nodes on disks that can fail, of which n1 does what it can to have the agent reach beyond
// its run, and returns a folder of the machine that it aims at, with the number of n1's first process.
func hostile(t *testing.T) (c *Cluster, precious string, pid int) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root, to look at the engine's machine")
	}
	c = onDisks(t, 2)
	precious = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(precious, "file"), []byte("precious"), 0o600))
	require.NoError(t, os.Chmod(precious, 0o755))
	info, err := c.engine.api.ContainerInspect(t.Context(), c.nodes["n1"].containers[0])
	require.NoError(t, err)
	if _, err := os.Stat("/proc/" + strconv.Itoa(info.State.Pid) + "/root/"); err != nil {
		t.Skip("the engine is on another machine")
	}
	require.Equal(t, "ok", tell(t, c, "n1", "hostile %s", precious))
	return c, precious, info.State.Pid
}

// Whatever a node does to its data folder, its processes and its filters: faults reach what is the run's, and nothing else.
func TestAHostileNodeIsAlone(t *testing.T) {
	c, precious, pid := hostile(t)
	// A table of its own in the node's network namespace, as a node with NET_ADMIN would have.
	nft := func(args ...string) (string, error) {
		out, err := exec.Command("nsenter", append([]string{"--target", strconv.Itoa(pid), "--net", "iptables"}, args...)...).CombinedOutput()
		return string(out), err
	}
	_, filters := nft("-A", "INPUT", "-p", "tcp", "--dport", "9", "-j", "DROP")
	bystander := exec.Command("sleep", "600") // a process of the machine
	require.NoError(t, bystander.Start())
	defer func() {
		require.NoError(t, bystander.Process.Kill(), "no fault has ended it")
		_ = bystander.Wait()
	}()

	requireSeen(t, c, proc("n1", history.Paused))
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(bystander.Process.Pid) + "/stat")
	require.NoError(t, err)
	require.NotContains(t, string(stat), ") T ", "it goes on")
	requireSeen(t, c, proc("n1", history.Up))
	requireSeen(t, c, links(link("n2", "n1", true)))
	requireSeen(t, c, links(link("n2", "n1", false)))
	requireSeen(t, c, clocks(history.Clock{Node: "n1", Offset: 1e9}))
	requireSeen(t, c, clocks(history.Clock{Node: "n1"}))
	requireSeen(t, c, disks("n1", history.DiskState{Full: true}))
	requireSeen(t, c, healed("n1"))
	if filters == nil {
		rules, err := nft("-S", "INPUT")
		require.NoError(t, err)
		require.Contains(t, rules, "--dport 9", "its own filters are its own")
	}
	requireSeen(t, c, proc("n1", history.Crashed))
	requireSeen(t, c, proc("n1", history.Up))
	eventually(t, c, "n1")
	wipe := history.Changes{Procs: proc("n1", history.Down).Procs, Disks: disks("n1", history.DiskState{Wiped: true}).Disks}
	requireSeen(t, c, wipe)
	requireSeen(t, c, healed("n1"))
	eventually(t, c, "n1")
	require.Equal(t, "ok", tell(t, c, "n2", "ping"), "the other node is well")
	requireState(t, c, history.Changes{})

	text, err := os.ReadFile(filepath.Join(precious, "file"))
	require.NoError(t, err)
	require.Equal(t, "precious", string(text), "links out of the data folder lead nowhere")
	entries, err := os.ReadDir(precious)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

// A node sees nothing of the agent: not its process, not its pipes, no port of it, and no folder that it has.
func TestANodeCannotReachTheAgent(t *testing.T) {
	c := open(t, engine(t), runID(t), 1)
	launch(t, c)
	agent, err := c.engine.api.ContainerInspect(t.Context(), c.name("agent"))
	require.NoError(t, err)
	require.EqualValues(t, "none", agent.HostConfig.NetworkMode, "it has no network to be reached by")
	require.Empty(t, agent.NetworkSettings.Ports)
	node, err := c.engine.api.ContainerInspect(t.Context(), c.nodes["n1"].containers[0])
	require.NoError(t, err)
	require.False(t, node.HostConfig.Privileged)
	require.Empty(t, node.HostConfig.CapAdd)
	require.Empty(t, node.HostConfig.PidMode, "it sees its own processes only")
	require.NotEqual(t, "host", string(node.HostConfig.IpcMode))
	for _, m := range node.Mounts {
		require.Equal(t, "volume", string(m.Type), "a node has its own volume, and no folder or socket of the machine")
		for _, of := range agent.Mounts {
			require.NotEqual(t, of.Source, m.Source)
		}
	}
	seen := strings.Fields(tell(t, c, "n1", "processes"))
	require.Equal(t, []string{"1"}, seen)
	require.Empty(t, tell(t, c, "n1", "sockets"), "nobody listens beside it in its network")
}
