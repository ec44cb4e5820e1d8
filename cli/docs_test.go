package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/history/jepsen"
)

func TestDocsNameEveryPropertyAndEveryModel(t *testing.T) {
	text, err := os.ReadFile("../docs/checkers.md")
	require.NoError(t, err)
	for _, c := range checkers.All() {
		require.Contains(t, string(text), "\n| `"+c.Property+"` | ", "what it is decided as")
	}
	help := checkCommand().Long
	for _, m := range jepsen.Models {
		require.Contains(t, string(text), "| `"+m.Name+"` | ")
		require.Contains(t, help, "\n  "+m.Name+" ")
		for _, p := range m.Properties {
			require.Contains(t, string(text), "`"+p+"`")
		}
	}
}

// TestTheHistoryInTheDocumentsIsJudgedAsTheySay has the example of docs/history.md judged, and wants the verdict that stands beneath it.
func TestTheHistoryInTheDocumentsIsJudgedAsTheySay(t *testing.T) {
	text := map[string]string{}
	for _, b := range blocks(t) {
		if b.file == "history.md" {
			text[b.language] = b.text
		}
	}
	require.Equal(t, 10, strings.Count(text["json"], "\n"))
	status, stdout, stderr := checked(t, map[string]string{"example.jsonl": text["json"]}, "--require", "single-leader-per-term", "example.jsonl")
	require.Equal(t, 1, status, stderr)
	require.NotEmpty(t, text["text"])
	for line := range strings.Lines(text["text"]) {
		require.Contains(t, stdout, line)
	}
}

// TestTheHistoryInTheRulesIsJudgedAsTheySay has each example of docs/rules.md judged, and wants the verdict that stands beneath it. Each
// property has one, in its own section, and docs/checkers.md says what to do about the like.
func TestTheHistoryInTheRulesIsJudgedAsTheySay(t *testing.T) {
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	page, err := os.ReadFile("../docs/rules.md")
	require.NoError(t, err)
	lines := strings.Split(string(page), "\n")
	section := func(line int) (name string) {
		for _, l := range lines[:line] {
			if heading, is := strings.CutPrefix(l, "### "); is {
				name = heading
			}
		}
		return name
	}
	var examples, verdicts []block
	for _, b := range blocks(t) {
		switch {
		case b.file != "rules.md":
		case b.language == "json":
			examples = append(examples, b)
		default:
			verdicts = append(verdicts, b)
		}
	}
	require.Len(t, verdicts, len(examples), "each example has a verdict")
	shown := map[string]string{} // what it says of each, as a table has it
	for i, b := range examples {
		property := section(b.line)
		require.Equal(t, property, section(verdicts[i].line))
		_, stdout, stderr := checked(t, map[string]string{"example.jsonl": b.text}, "--json", "example.jsonl")
		var of struct {
			Verdicts []struct{ Property, Verdict, Why string }
		}
		require.NoError(t, json.Unmarshal([]byte(stdout), &of), "rules.md:%d: %s", b.line, stderr)
		said := ""
		for _, v := range of.Verdicts {
			if v.Property == property {
				said = property + " is " + v.Verdict + ": " + v.Why + "\n"
				shown[property] = strings.ReplaceAll(v.Why, "`", "")
			}
		}
		require.Equal(t, said, verdicts[i].text, "rules.md:%d", verdicts[i].line)
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", "checkers.md"))
	require.NoError(t, err)
	for _, c := range checkers.All() {
		require.NotEmpty(t, shown[c.Property], "%s has an example", c.Property)
		require.Contains(t, string(text), "\n| `"+c.Property+"` | "+shown[c.Property]+" | ", "what to do about it")
	}
}

// A table goes on for as long as its lines do: what stands after an empty line is shown as text with bars in it.
func TestTablesOfTheDocumentsAreWhole(t *testing.T) {
	files, err := filepath.Glob("../docs/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	rule := regexp.MustCompile(`^\|( ?:?-+:? ?\|)+$`)
	escaped := strings.NewReplacer(`\|`, "")
	for _, file := range append(files, "../README.md") {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		lines, code, columns := strings.Split(string(text), "\n"), false, 0
		for i, line := range lines {
			if strings.HasPrefix(line, "```") {
				code = !code
			}
			if code || !strings.HasPrefix(line, "|") {
				columns = 0
				continue
			}
			n := strings.Count(escaped.Replace(line), "|")
			if columns == 0 {
				require.Less(t, i+1, len(lines))
				require.Regexp(t, rule, lines[i+1], "%s:%d: a table without a head", file, i+1)
				columns = n
			}
			require.Equal(t, columns, n, "%s:%d: columns", file, i+1)
		}
	}
}
