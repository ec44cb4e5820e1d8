package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"recount/harness"
	"recount/harness/campaign"
	"recount/harness/record"
	"recount/harness/suite"
	"recount/internal/hint"
	"recount/nemesis"
	"recount/targets/specfile"
)

// What the documents show is what the program takes: every command line and every YAML file in them is read here, by the
// code that would read it.

// block is a fenced piece of a document.
type block struct {
	file, language, text string
	line                 int
}

func blocks(t *testing.T) (all []block) {
	t.Helper()
	root := ".."
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	files = append(files, filepath.Join(root, "README.md"), filepath.Join(root, "examples", "README.md"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var in *block
		for n, line := range strings.Split(string(text), "\n") {
			fence, language := strings.CutPrefix(strings.TrimLeft(line, " "), "```")
			switch {
			case language && in == nil:
				in = &block{file: filepath.Base(file), language: fence, line: n + 2}
			case language:
				all = append(all, *in)
				in = nil
			case in != nil:
				in.text += line + "\n"
			}
		}
		require.Nil(t, in, "%s: a block is not closed", file)
	}
	require.NotEmpty(t, all)
	return all
}

func TestCommandsInTheDocuments(t *testing.T) {
	count := 0
	check := func(where, line string) {
		args, ok := argumentsIn(line)
		if !ok {
			return
		}
		count++
		require.NoError(t, parses(args), "%s: %s", where, line)
	}
	for _, b := range blocks(t) {
		for line := range strings.Lines(b.text) {
			line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "- run: "))
			line = strings.TrimSpace(strings.TrimPrefix(line, "- "))
			if b.language == "" || b.language == "yaml" || b.language == "sh" {
				check(b.file, line)
			}
		}
	}
	walk(rootCommand(), func(c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			check(c.CommandPath(), strings.TrimSpace(line))
		}
	})
	require.Greater(t, count, 40, "the documents show commands")
}

func walk(c *cobra.Command, f func(*cobra.Command)) {
	f(c)
	for _, sub := range c.Commands() {
		walk(sub, f)
	}
}

var (
	invoked  = regexp.MustCompile(`^(?:\S*/)?recount (.+)$`)
	comment  = regexp.MustCompile(`\s+#.*$`)
	variable = regexp.MustCompile(`\$\{\{[^}]*\}\}|\$[A-Z_]+`)
	optional = regexp.MustCompile(`\[[^\]]*\]|…`)
)

// argumentsIn are those of a line of a document, if it is a command line of recount.
func argumentsIn(line string) (args []string, ok bool) {
	m := invoked.FindStringSubmatch(comment.ReplaceAllString(line, ""))
	if m == nil || strings.Contains(line, " is ") {
		return nil, false
	}
	text := optional.ReplaceAllString(variable.ReplaceAllString(m[1], "1"), "")
	if strings.HasPrefix(text, "list targets|") {
		return nil, false
	}
	for _, word := range strings.Fields(text) {
		args = append(args, strings.Trim(word, `'"`))
	}
	return args, true
}

// parses reports what is wrong with a command line before anything is done.
func parses(args []string) error {
	c, rest, err := rootCommand().Find(args)
	if err != nil {
		return err
	}
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	return c.ValidateArgs(c.Flags().Args())
}

func TestYAMLInTheDocuments(t *testing.T) {
	kinds := map[string]int{}
	for _, b := range blocks(t) {
		if b.language != "yaml" {
			continue
		}
		var doc yaml.Node
		require.NoError(t, yaml.Unmarshal([]byte(b.text), &doc), "%s:%d", b.file, b.line)
		if doc.Content[0].Kind == yaml.SequenceNode { // steps alone
			b.text = "schedule:\n" + b.text
			require.NoError(t, yaml.Unmarshal([]byte(b.text), &doc))
		}
		var top map[string]yaml.Node
		require.NoError(t, doc.Decode(&top), "%s:%d", b.file, b.line)
		has := func(name string) bool { _, ok := top[name]; return ok }
		var kind string
		var err error
		switch {
		case has("apiVersion"):
			kind = "manifest" // for Kubernetes
		case b.file == "campaigns.md":
			kind = "campaign"
			file := filepath.Join(t.TempDir(), "campaign.yaml")
			require.NoError(t, os.WriteFile(file, []byte(b.text), 0o644))
			_, err = campaign.Load(file)
		case has("jobs"), has("recount"), has("runs"):
			kind = "workflow" // its commands are read above
		case has("observe"):
			kind = "spec"
			_, err = specfile.Parse(b.file, []byte(b.text))
		case has("targets"):
			kind = "suite"
			file := filepath.Join(t.TempDir(), "suite.yaml")
			require.NoError(t, os.WriteFile(file, []byte(b.text), 0o644))
			require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(file), "election.yaml"), []byte("image: a\nports: {http: 80}\ntimes: {silence: 1s}\nobserve: {http: /, role: role, term: term}\n"), 0o644))
			_, err = suite.Load(file)
		default:
			kind = "scenario"
			file := filepath.Join(t.TempDir(), "scenario.yaml")
			require.NoError(t, os.WriteFile(file, []byte(b.text), 0o644))
			var s *harness.Scenario
			if s, err = harness.LoadScenario(file); err == nil {
				p := record.Plan{On: record.OnSim}
				if s.Target == "" {
					p.Target = "raft"
				}
				if s.Target == "" && nemesis.Reconfigures(s.Schedule, nil) {
					p.Target = "etcd-raft"
				}
				if len(nemesis.Owns(s.Schedule, nil)) > 0 {
					p.Target, p.On = filepath.Join(t.TempDir(), "own.yaml"), record.OnDocker
					const own = "image: a\nports: {http: 80}\ntimes: {silence: 1s}\nobserve: {http: /, role: role}\nfaults: {stuck: {inject: {http: /stick}}}\n"
					require.NoError(t, os.WriteFile(p.Target, []byte(own), 0o644))
				}
				if p = s.Plan(p); p.Nodes == 0 {
					p.Nodes = 7
				}
				err = harness.Check(p)
			}
		}
		require.NoError(t, err, "%s:%d: %s", b.file, b.line, hint.Of(err))
		kinds[kind]++
	}
	for _, kind := range []string{"workflow", "spec", "suite", "scenario", "campaign"} {
		require.Positive(t, kinds[kind], kind)
	}
}

// The reference of scenarios names every field, word and cue that there is.
func TestTheReferenceOfScenariosIsComplete(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "scenarios.md"))
	require.NoError(t, err)
	names := func(v any) (list []string) {
		typ := reflect.TypeOf(v)
		for i := range typ.NumField() {
			if name, _, _ := strings.Cut(typ.Field(i).Tag.Get("yaml"), ","); name != "-" {
				list = append(list, name)
			}
		}
		return list
	}
	fields := append(names(harness.Scenario{}), names(nemesis.Step{})...)
	require.Greater(t, len(fields), 15)
	for _, field := range fields {
		require.Contains(t, string(text), "| `"+field+"` |", "a field")
	}
	for _, row := range append(nemesis.Words(), nemesis.Cues()...) {
		require.Contains(t, string(text), "| `"+row[0]+"` | "+row[1]+" |", "a word or a cue, with what it means: its row is missing or old")
	}
}

// action is what is used of action.yml.
type action struct {
	Name, Description string
	Inputs            map[string]struct {
		Description, Default string
		Required             bool
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []struct {
			Name, ID, If, Uses, Run, Shell string
			With, Env                      map[string]string
		}
	}
}

func readAction() (text []byte, a action, err error) {
	if text, err = os.ReadFile(filepath.Join("..", "action.yml")); err != nil {
		return nil, a, err
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	return text, a, d.Decode(&a)
}

// actionStep is what the step of that name runs. TestScripts runs it.
func actionStep(name string) (string, error) {
	_, a, err := readAction()
	for _, step := range a.Runs.Steps {
		if step.Name == name {
			return step.Run, err
		}
	}
	return "", fmt.Errorf("action.yml: no step %q: %w", name, err)
}

// The composite action names inputs that it has, and says what GitHub wants to be told.
func TestTheAction(t *testing.T) {
	text, a, err := readAction()
	require.NoError(t, err)
	require.Equal(t, "composite", a.Runs.Using)
	for _, m := range regexp.MustCompile(`inputs\.([a-z]+)`).FindAllStringSubmatch(string(text), -1) {
		require.Contains(t, a.Inputs, m[1])
	}
	for _, step := range a.Runs.Steps {
		require.NotEqual(t, step.Uses == "", step.Run == "", "a step uses something or runs something")
		if step.Run != "" {
			require.Equal(t, "bash", step.Shell, "a composite action must say so")
		}
	}
	makefile, err := os.ReadFile(filepath.Join("..", "Makefile"))
	require.NoError(t, err)
	require.Regexp(t, `(?m)^build:`, string(makefile), "what the action makes")
}

// The suite of docs/ci.md is one that holds: nothing in it is new, nothing has vanished.
func TestTheSuiteInTheDocuments(t *testing.T) {
	for _, b := range blocks(t) {
		if b.file != "ci.md" || !strings.Contains(b.text, "scenarios:") {
			continue
		}
		dir := t.TempDir()
		file := filepath.Join(dir, "suite.yaml")
		require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(b.text, "2027-", "2999-")), 0o644)) // it is not to expire here
		var stdout, stderr bytes.Buffer
		require.Equal(t, record.StatusHeld, run([]string{"run", "--suite", file, "--results", dir}, &stdout, &stderr), "%s%s", &stdout, &stderr)
		require.NotContains(t, stdout.String(), "vanished")
		require.Contains(t, stdout.String(), "allowed until")
		return
	}
	t.Fatal("docs/ci.md shows no suite")
}
