package cli

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tree is a copy of this module in which something is added.
type tree struct {
	*testing.T
	dir string
}

func copyOfTheTree(t *testing.T) *tree {
	t.Helper()
	c := &tree{t, t.TempDir()}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel("..", path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && slices.Contains([]string{".git", "bin", "results"}, rel):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(c.dir, rel), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(c.dir, rel), b, 0o644)
	})
	require.NoError(t, err)
	return c
}

// add writes a file that is not there yet.
func (c *tree) add(name, text string) {
	c.Helper()
	path := filepath.Join(c.dir, name)
	require.NoFileExists(c, path)
	require.NoError(c, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(c, os.WriteFile(path, []byte(text), 0o644))
}

// moved is a file of examples/ as it stands in another package.
func (c *tree) moved(name, from, to string) string {
	c.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, name))
	require.NoError(c, err)
	head, rest, found := strings.Cut(string(text), "package "+from+"\n")
	require.True(c, found)
	return strings.Replace(head, "Package "+from, "This", 1) + "package " + to + "\n" + rest
}

// run runs a command in the copy and returns what it prints.
func (c *tree) run(status int, name string, args ...string) string {
	c.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = c.dir
	out, err := cmd.CombinedOutput()
	if status == 0 {
		require.NoError(c, err, "%s", out)
	}
	require.Equal(c, status, cmd.ProcessState.ExitCode(), "%v: %s", args, out)
	return string(out)
}

// shown is the code that a page shows, by something that stands in it.
func shown(t *testing.T, file, with string) string {
	t.Helper()
	all := blocks(t)
	i := slices.IndexFunc(all, func(b block) bool { return b.file == file && strings.Contains(b.text, with) })
	require.GreaterOrEqual(t, i, 0, "%s shows no %s", file, with)
	return all[i].text
}

const greetCommand = `package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func init() { register(greet) }

func greet() *cobra.Command {
	return &cobra.Command{
		Use: "greet", Short: "Say hello", Example: "  recount greet", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "hello")
			return err
		},
	}
}
`

const deafLeader = `about: The leader is heard by all and hears nobody.
source: docs/faults.md
target: ballot
nodes: 3
time: 20s
schedule:
  - {at: 1s, fault: deaf, nodes: [leader], for: 5s}
expect:
  single-leader-per-term: valid
`

// What docs/tour.md says of what to touch to add something, done in a copy of the tree with the code that the documents show.
func TestOneOfEachIsOneFile(t *testing.T) {
	c := copyOfTheTree(t)
	c.add("nemesis/deaf.go", shown(t, "faults.md", `Name:  "deaf"`))
	c.add("workloads/readers.go", shown(t, "workloads.md", `Name:    "readers"`))
	c.add("checkers/short_reign.go", shown(t, "checkers.md", `Property: "short-reign"`))
	c.add("checkers/testdata/short-reign/invalid-late-term.txt", shown(t, "checkers.md", "# n2 wins a term too late."))
	c.add("checkers/testdata/short-reign/valid-early-term.txt", "nodes n1 n2 n3\n\n1s  n1  leader 1\n3s  end\n")
	c.add("checkers/testdata/short-reign/unknown-no-leader.txt", "nodes n1 n2 n3\n\n1s  n1  follower 1\n3s  end\n")
	c.add("targets/algorithms/ballot.go", c.moved("examples/algorithm/ballot.go", "algorithm", "algorithms"))
	c.add("targets/systems/httpelection/driver.go", c.moved("examples/driver/driver.go", "driver", "httpelection"))
	builtin := filepath.Join(c.dir, "targets/builtin/builtin.go")
	text, err := os.ReadFile(builtin)
	require.NoError(t, err)
	line := "\t_ \"recount/targets/systems/hashicorpraft\"\n"
	require.Contains(t, string(text), line)
	text = []byte(strings.Replace(string(text), line, line+"\t_ \"recount/targets/systems/httpelection\"\n", 1))
	require.NoError(t, os.WriteFile(builtin, text, 0o644))
	c.add("scenarios/deaf-leader.yaml", deafLeader)
	c.add("cli/greet.go", greetCommand)
	c.add("cli/testdata/greet.txtar", "status 0 recount greet\nstdout hello\n")

	c.run(0, "go", "build", "-trimpath", "-o", "recount", "./cmd/recount")
	c.run(0, "./recount", "run", "deaf-leader", "--seed", "1")
	ran := c.run(0, "./recount", "run", "--target", "raft", "--nemesis", "deaf", "--workload", "readers", "--time", "20s", "--seed", "1")
	require.Contains(t, ran, "short-reign")
	require.Contains(t, c.run(0, "./recount", "list", "targets", "http-election"), "elect over HTTP")

	c.run(0, "go", "test", "-trimpath", "./checkers", "-run", "TestGolden/short-reign|TestSentences", "-update")
	c.run(0, "go", "test", "-trimpath", "./checkers", "-run", "TestGolden/short-reign|TestContract/short-reign")
	c.run(0, "go", "test", "-trimpath", "./nemesis", "-run", "TestSimulatedFaultsKeepTheContract/deaf")
	c.run(0, "go", "test", "-trimpath", "./cli", "-run", "TestScripts/(greet|list)|Imports")
}
