package matrix

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAMatrixIsWrittenInEveryForm(t *testing.T) {
	p := planned(t, []string{"test-boastful", "raft", "raft:forget-vote"}, []string{"isolate", "crash"}, []string{"ping-pong"})
	table := measure(t, p)
	table.Command = "recount matrix --targets a,b"
	dir, err := MakeFolder(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, Keep(context.Background(), p, table, dir, 0, quiet))
	require.NoError(t, Write(table, dir))
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		return string(b)
	}
	broken := table.cell("test-boastful", "isolate", "exclusive-leadership")

	var back Table
	require.NoError(t, json.Unmarshal([]byte(read(DataFile)), &back))
	require.Equal(t, table.Pairs, back.Pairs)
	require.Equal(t, table.Missed, back.Missed)
	require.Equal(t, table.Looked, back.Looked)
	require.Equal(t, table.Runs, back.Looked.Runs)
	require.Contains(t, back.Looked.Unaimed, "RequestVote of raft")
	looked := back.Looked.Chance.String()

	text := read(textFile)
	require.Contains(t, text, "2 promises broke.")
	require.Contains(t, text, broken.Why)
	require.Contains(t, text, broken.Command)
	require.Regexp(t, `(?m)^test-boastful +· +✕2 `, text)
	require.Regexp(t, `(?m)^raft +✓ +!`, text)
	require.Contains(t, text, "  forget-vote: caught by ")
	require.Contains(t, text, "\nlooked at\n  new        the chance that one more run reaches something new is "+looked)

	markdown := read(markdownFile)
	require.Contains(t, markdown, "| `test-boastful` | · | **✕ 2** |")
	require.Contains(t, markdown, "## Known weaknesses")
	require.Contains(t, markdown, looked)
	for _, line := range strings.Split(markdown, "\n") {
		if strings.HasPrefix(line, "|") {
			require.True(t, strings.HasSuffix(line, "|"), line)
		}
	}

	html := read(PageFile)
	require.Contains(t, html, looked)
	require.Contains(t, html, `<a class="b" href="`+broken.Run+`/report.html"></a>`)
	for _, link := range regexp.MustCompile(`href="([^"]+)"`).FindAllStringSubmatch(html, -1) {
		require.FileExists(t, filepath.Join(dir, link[1]))
	}
	require.NotRegexp(t, `(?i)(src|href)="(https?:)?//`, html, "it needs nothing from elsewhere")
	data := regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`).FindStringSubmatch(html)
	require.NotNil(t, data)
	var cells struct{ Pairs []Pair }
	require.NoError(t, json.Unmarshal([]byte(data[1]), &cells))
	require.Equal(t, table.Pairs, cells.Pairs)
	require.Equal(t, len(table.Pairs), strings.Count(html, `<div class="m">`))
}

func TestTheSummaryLeavesKnownWeaknessesToTheReport(t *testing.T) {
	table := measure(t, planned(t, []string{"random-backoff"}, []string{"none"}, nil))
	table.Missed = []Missed{{Scenario: "s", Property: "elects", Expected: "valid", Got: "invalid", Runs: 2, Seed: 4, Command: "recount run s"}}
	var short, long, page bytes.Buffer
	require.NoError(t, Summarise(&short, table, true))
	require.NoError(t, Text(&long, table))
	require.NotContains(t, short.String(), "led at one time")
	require.Contains(t, long.String(), "led at one time")
	require.Contains(t, short.String(), "s: \x1b[1;31melects\x1b[0m is invalid in 2 runs, not valid")
	require.NotContains(t, long.String(), "\x1b", "a file has no colours")
	require.NoError(t, HTML(&page, table))
	require.Contains(t, page.String(), "<code><span>recount</span> <span>run</span> <span>s</span> </code>")
	require.NotContains(t, page.String(), `id="foot-guns"`)
}

func TestNothingThatAnElectionSaysIsMarkup(t *testing.T) {
	table := measure(t, planned(t, []string{"random-backoff"}, []string{"none"}, nil))
	c := table.cell("random-backoff", "none", "exclusive-leadership")
	c.Why = `</script><b>|"x"`
	var page, markdown bytes.Buffer
	require.NoError(t, HTML(&page, table))
	require.NotContains(t, page.String(), "</script><b>")
	require.NoError(t, Markdown(&markdown, table))
	require.Contains(t, markdown.String(), `<b>\|"x"`)
}

func TestAFolderThatCannotBeMadeHasAHint(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := MakeFolder(file)
	require.ErrorContains(t, err, "results folder")
}

// A target's name, and so a run's folder, may have characters that mean something in links.
func TestLinksLeadToRunsOfAnyName(t *testing.T) {
	table := measure(t, planned(t, []string{"test-boastful"}, []string{"isolate"}, nil))
	table.cell("test-boastful", "isolate", "exclusive-leadership").Run = "50%31 #1?"
	var page bytes.Buffer
	require.NoError(t, HTML(&page, table))
	require.Contains(t, page.String(), `href="50%2531%20%231%3F/report.html"`)
	require.NotContains(t, page.String(), `href="50%31`)
}
