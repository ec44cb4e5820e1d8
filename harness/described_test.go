package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/history"
	"recount/internal/hint"
)

func TestWhereTheFileOfAScenariosTargetIs(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(path, text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o644)) }
	require.NoError(t, os.Mkdir("x", 0o755))
	file := filepath.Join("x", "mine.yaml")
	write(file, "target: lease.yaml\n")
	is := func(want string) {
		s, err := LoadScenario(file)
		require.NoError(t, err)
		require.Equal(t, want, s.Target)
	}
	is("lease.yaml")
	write(filepath.Join("x", record.DefinitionFile), "")
	is("lease.yaml") // of something else, for all that is known
	write(filepath.Join("x", "run.json"), `{"target": "lease.yaml"}`)
	is(filepath.Join("x", record.DefinitionFile))
	elsewhere := filepath.Join(t.TempDir(), "lease.yaml")
	write(elsewhere, "")
	write(filepath.Join("x", "run.json"), fmt.Sprintf(`{"plan": {"target": "lease.yaml"}, "described_by": %q}`, elsewhere))
	h, err := history.New([]history.Op{{Process: history.Harness, Type: history.OK, F: history.Begin, Setup: &history.Setup{Target: "lease.yaml", Nodes: []string{"n1"}}}})
	require.NoError(t, err)
	require.NoError(t, record.WriteHistory("x", h))
	is(elsewhere)
	write(elsewhere, "about: changed")
	is(filepath.Join("x", record.DefinitionFile))
	write(filepath.Join("x", "lease.yaml"), "")
	is(filepath.Join("x", "lease.yaml"))
	write("lease.yaml", "")
	is("lease.yaml")
}

// A template that fails for a node of the run is told before the run.
func TestTemplatesAreTriedForEveryNode(t *testing.T) {
	file := described(t, t.TempDir()+"/server.yaml", definition+"environment: {X: '{{slice \"abc\" .ID}}'}\n").DescribedBy
	require.NoError(t, Check(record.Plan{Target: file, On: record.OnDocker, Nodes: 3}))
	require.ErrorContains(t, Check(record.Plan{Target: file, On: record.OnDocker, Nodes: 5}), "of n4: ")
}

// A scenario's clients do what another target can, and its plan notes what that leaves out.
func TestWhatAScenariosClientsLeaveOut(t *testing.T) {
	asked := described(t, t.TempDir()+"/asked.yaml", definition).DescribedBy
	heard := described(t, t.TempDir()+"/heard.yaml", strings.Replace(definition, "{http: /, role: role}",
		"{logs: [{match: 'leads in (?P<term>\\d+)', role: leader}]}", 1)).DescribedBy
	writes := &Scenario{Name: "writes", Target: "raft", Workloads: []string{"record"}}
	for file, want := range map[string][]string{
		asked: nil,
		heard: {"the scenario's clients leave something out: workload record: its writer asks each node whether it leads, and " + heard + " is observed by logs alone"},
	} {
		s, err := resolve(writes.Plan(record.Plan{Target: file, On: record.OnDocker, Nodes: 3}))
		require.NoError(t, err)
		require.Equal(t, want, s.notes)
	}
}

// A workload that a file does not make possible is refused, with what the file lacks.
func TestWorkloadsThatAFileLacksSomethingFor(t *testing.T) {
	file := described(t, t.TempDir()+"/server.yaml", definition).DescribedBy
	for workload, want := range map[string][2]string{
		"transfer": {"cannot be asked to hand over", "the file lacks resign"},
		"register": {"cannot read and write a number for clients", "the file lacks register"},
		"updates":  {"cannot tell of what its leaders decide", "only an algorithm in Go does it"},
	} {
		err := Check(record.Plan{Target: file, On: record.OnDocker, Nodes: 3, Workloads: []string{workload}})
		require.ErrorContains(t, err, want[0])
		require.Contains(t, hint.Of(err), want[1])
	}
	require.Contains(t, hint.Of(Check(record.Plan{Target: "redlock", On: record.OnDocker, Workloads: []string{"register"}})), "recount list workloads")
}

// Where a node is asked may rest on how often it was added. Who writes in virtual time is in this process, and knows.
func TestWritersAskByAPathOfWhoWasAdded(t *testing.T) {
	server, err := filepath.Abs("testdata/keeper")
	require.NoError(t, err)
	file := described(t, t.TempDir()+"/server.yaml", strings.NewReplacer("image: server:1", "binary: {package: "+server+"}", "http: /,", "http: '/{{.Joined}}',").Replace(definition)).DescribedBy
	require.NoError(t, Check(record.Plan{Target: file, On: record.OnVirtual, Nodes: 3, Workloads: []string{"fence"}}))
}

// In virtual time no command is run in a node, and no folder is that of several: no run would be of a cluster. What nodes send to groups is
// carried.
func TestWhatVirtualTimeDoesNotHaveIsRefused(t *testing.T) {
	for field, want := range map[string]string{
		"bootstrap: [/bin/false]":             "become a cluster by a command (bootstrap), and no command runs in virtual time",
		"post-start: {command: [/bin/false]}": "are told of their starts by a command (post-start), and no command runs in virtual time",
		"shared: /shared":                     "share a folder, and in virtual time each has its own",
	} {
		file := described(t, t.TempDir()+"/server.yaml", strings.Replace(definition, "image: server:1", "binary: {package: .}", 1)+field+"\n").DescribedBy
		err := Check(record.Plan{Target: file, On: record.OnVirtual, Nodes: 3})
		require.ErrorContains(t, err, want)
		require.Contains(t, hint.Of(err), "--on docker")
	}
	file := described(t, t.TempDir()+"/server.yaml", strings.Replace(definition, "image: server:1", "binary: {package: .}", 1)+"multicast: true\n").DescribedBy
	require.NoError(t, Check(record.Plan{Target: file, On: record.OnVirtual, Nodes: 3}))
}

// A node that a template names and a run does not have is told before anything is started.
func TestANodeThatARunDoesNotHave(t *testing.T) {
	file := described(t, t.TempDir()+"/server.yaml", definition+"environment: {JOIN: '{{addr 3}}'}\n").DescribedBy
	plan := record.Plan{Target: file, On: record.OnDocker, Nodes: 3}
	require.NoError(t, Check(plan))
	plan.Nodes = 2
	require.ErrorContains(t, Check(plan), "addr: there is no n3 among 2 nodes")
	require.ErrorContains(t, CheckTrial(plan), "addr: there is no n3 among 2 nodes")
	require.Contains(t, hint.Of(Check(plan)), "--nodes 3")
}
