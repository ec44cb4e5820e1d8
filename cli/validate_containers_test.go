package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The file that init writes is tried as it stands, and with each of the other ways to come by an image and to observe a
// node: the answers differ in form and say the same.
func TestValidateOnContainers(t *testing.T) {
	path, _ := program(t)
	dir := t.TempDir()
	name := filepath.Base(path)
	executable, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), executable, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte("FROM scratch\nCOPY "+name+" /"+name+"\nENTRYPOINT [\"/"+name+"\"]\n"), 0o644))

	out, err := exec.Command(path, "init", filepath.Join(dir, "election.yaml")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	text, err := os.ReadFile(filepath.Join(dir, "election.yaml"))
	require.NoError(t, err)
	whole := strings.Replace(string(text), "poll: 50ms", "poll: 1s", 1) // a busy machine takes long to run a command
	require.NotEqual(t, string(text), whole)
	before, rest, ok := strings.Cut(whole, "\nobserve:\n")
	require.True(t, ok)
	_, promises, ok := strings.Cut(rest, "\npromises:\n")
	require.True(t, ok)
	observe := func(how string) string { return before + "\nobserve: " + how + "\n\npromises:\n" + promises }

	for _, c := range []struct{ name, spec, want string }{
		{"http", whole, "role leader, term 1, leader n1"},
		{"dockerfile", strings.Replace(whole, "binary: \""+path+"\"", "dockerfile: ./Dockerfile", 1), "role leader, term 1, leader n1"},
		{"metrics", observe("{metrics: /metrics, role: election_leads, term: election_term, leader: 'election_leader#name'}"), "role leader, term 1, leader n1"},
		{"command", observe("{command: [/" + name + ", example, --show], role: role, term: term, leader: leader}"), "role leader, term 1, leader n1"},
		{"match", observe(`{command: [/` + name + `, example, --show], match: '"role":"(?P<role>\w+)","term":(?P<term>\d+)'}`), "role leader, term 1, leader n1"},
		{"logs", observe(`{logs: {match: 'becomes leader at term (?P<term>\d+)', role: leader}}`), "role leader, term 1, leader n1  (its log told)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.NotEqual(t, c.name == "http", c.spec != whole)
			file := filepath.Join(dir, c.name+".yaml")
			require.NoError(t, os.WriteFile(file, []byte(c.spec), 0o644))
			out, err := exec.Command(path, "validate", file, "--results", filepath.Join(dir, c.name)).CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Contains(t, string(out), c.want)
			require.NotContains(t, string(out), "wrong")
		})
	}
}

// A server that does not come up is no broken promise: it is told, with its last words, and the status is 255.
func TestValidateAServerThatEnds(t *testing.T) {
	path, _ := program(t)
	file := filepath.Join(t.TempDir(), "bad.yaml")
	spec := "binary: " + path + "\ncommand: [example, --bogus]\nports: {http: 8080}\ntimes: {silence: 1s}\nobserve: {http: /status, role: role}\n"
	require.NoError(t, os.WriteFile(file, []byte(spec), 0o644))
	for _, args := range [][]string{{"validate", file, "--results", t.TempDir()}, {"run", "dead-leader", "--target", file, "--on", "docker", "--results", t.TempDir()}} {
		cmd := exec.Command(path, args...)
		out, err := cmd.CombinedOutput()
		require.Error(t, err)
		require.Equal(t, 255, cmd.ProcessState.ExitCode(), "%s", out)
		// An engine may be slower to start it than it is to end.
		require.Regexp(t, `recount: .*(n[1-5] ended by itself with exit status [0-9]+ before it was ready|start n[1-5])`, string(out))
		if args[0] == "validate" {
			require.Contains(t, string(out), "flag provided but not defined: -bogus", "its last words")
			if strings.Contains(string(out), "before it was ready") {
				require.Regexp(t, `recount: hint: all that it wrote lies in .*/nodes\n`, string(out))
			}
		}
	}
}

// A command that the image does not have is named at once, not when all patience is over.
func TestValidateACommandThatIsMissing(t *testing.T) {
	path, _ := program(t)
	dir := t.TempDir()
	out, err := exec.Command(path, "init", filepath.Join(dir, "election.yaml")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	text, err := os.ReadFile(filepath.Join(dir, "election.yaml"))
	require.NoError(t, err)
	file := filepath.Join(dir, "shell.yaml")
	before, _, ok := strings.Cut(string(text), "\nready:")
	require.True(t, ok)
	spec := before + "\nready: {command: [/bin/sh, -c, 'true'], within: 10m}\nobserve: {http: /status, role: role, term: term}\n"
	require.NoError(t, os.WriteFile(file, []byte(spec), 0o644))
	cmd := exec.Command(path, "validate", file, "--results", dir)
	out, _ = cmd.CombinedOutput()
	require.Equal(t, 255, cmd.ProcessState.ExitCode(), "%s", out)
	require.Contains(t, string(out), "the container has no such program: /bin/sh")
	require.Contains(t, string(out), "no shell and no tools")
	log, err := filepath.Glob(filepath.Join(dir, "validate", "*", "nodes", "n1.log"))
	require.NoError(t, err)
	require.Len(t, log, 1, "all that it wrote is kept")
}
