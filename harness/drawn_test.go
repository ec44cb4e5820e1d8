package harness

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/nemesis"
)

func TestAllFaultsAreThoseThatCanTakeEffect(t *testing.T) {
	const spec = "name: mine\nimage: server:1\nDATAports: {http: 80}\nobserve:\n  http: /status\n" +
		"  role: {at: role, leader: leader, follower: follower}\ntimes: {silence: 1s, elect: 10s, poll: 50ms}\n"
	file := func(data string) string {
		path := filepath.Join(t.TempDir(), "mine.yaml")
		require.NoError(t, os.WriteFile(path, []byte(strings.Replace(spec, "DATA", data, 1)), 0o644))
		return path
	}
	most := slices.DeleteFunc(nemesis.Drawn(), func(name string) bool { return name == "remove-member" || name == "replace-member" })
	require.Equal(t, most, Drawn(file("data: /data\nresign: {http: /resign}\n"), nil, record.OnDocker))
	without := Drawn(file(""), nil, record.OnDocker)
	require.NotContains(t, without, "disk-full")
	require.NotContains(t, without, "hand-over", "nothing says how it is asked")
	require.Contains(t, without, "kill")
	require.NotContains(t, Drawn(file(""), nil, record.OnVirtual), "crash")
	require.NotContains(t, Drawn(file("command: ['{{addr 2}}']\n"), nil, record.OnVirtual), "crash", "before there is an n2")
	require.Contains(t, Drawn(file("command: ['{{addr 2}}']\ndata: /data\n"), nil, record.OnVirtual), "crash")
	require.Equal(t, nemesis.Drawn(), Drawn("etcd", nil, record.OnVirtual))
	other := drawnOn("etcd", nil, record.OnDocker, "riscv64")
	require.NotContains(t, other, "clock-drift", "programs there have clocks that cannot be skewed")
	require.Contains(t, other, "disk-full")
	require.Equal(t, NoClocks, lacking("etcd", nil, record.OnDocker, "riscv64")("clock-drift"), "no lack of data")
	lacks := Undrawn(file("data: /data\n"), nil, record.OnDocker)
	require.Equal(t, []string{"hand-over"}, lacks[NoResign])
	require.Empty(t, lacks[NoData])
	require.Contains(t, Undrawn(file(""), nil, record.OnDocker)[NoData], "disk-full")
	old := map[string]string{"version": "3.2.32"}
	require.Equal(t, []string{"replace-member"}, Undrawn("etcd-raft-server", old, record.OnVirtual)[NoLearner])
	require.Contains(t, Drawn("etcd-raft-server", old, record.OnVirtual), "remove-member")
	require.Empty(t, Undrawn("etcd-raft-server", nil, record.OnVirtual)[NoLearner])
	for _, through := range []string{"etcd-election", file("services: {store: {system: etcd, version: 3.6.16, nodes: 1}}\n"),
		file("services: {store: {image: 'store:1', ports: {client: 6379}, nodes: 1, data: /data}}\n")} {
		require.Empty(t, Undrawn(through, nil, record.OnDocker)[NoData], "servers have disks")
		require.True(t, serversKeepData(through, nil, record.OnDocker), through)
	}
	for _, alone := range []string{"etcd", file(""), file("data: /data\nservices: {store: {system: etcd, version: 3.6.16, nodes: 1}}\n")} {
		require.False(t, serversKeepData(alone, nil, record.OnDocker), alone)
	}
	require.Equal(t, most, Drawn("raft", nil, record.OnSim))
	require.Equal(t, most, Drawn("raft", nil, record.OnDocker))
	require.Equal(t, nemesis.Drawn(), Drawn("etcd", nil, record.OnDocker))
}

// Wherever nodes are real it is told before any is started which faults need to know what messages mean: algorithms in containers, too.
func TestFaultsOfKindsOfMessagesAreForSimulation(t *testing.T) {
	lost := nemesis.Schedule{{Fault: "lose-message", For: time.Second}}
	require.NoError(t, Check(record.Plan{Target: "raft", On: record.OnSim, Schedule: lost}))
	for _, target := range []string{"raft", "etcd"} {
		require.ErrorContains(t, Check(record.Plan{Target: target, On: record.OnDocker, Schedule: lost}), "step 1: lose-message: no single packet of a real server can be made to lose", target)
	}
}

// What a history could not tell is refused before a run of it is made.
func TestBoundsThatNoHistoryHoldsAreRefused(t *testing.T) {
	err := Check(record.Plan{Target: "heartbeat-only", On: record.OnSim, Options: map[string]string{"heartbeat": "2000000h"}})
	require.EqualError(t, err, "heartbeat-only: a bound of 18000000000000000 ns: want 0 or more, and no more than 720h0m0s")
	require.True(t, IsUsage(err))
}
