package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"recount/harness/record"
	"recount/internal/term"
)

// What CI systems show of a run: a summary in Markdown, and annotations.

// Markdown writes the run's verdicts as a table, with the command that repeats the run.
func Markdown(w io.Writer, r *record.Run) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## Recount: %s\n\n**Status %d.** %s\n\n%s\n\n", MarkdownText(headline(r)), r.Status,
		MarkdownText(Sentence(r)), MarkdownText(facts(r)))
	if len(r.Verdicts) > 0 {
		b.WriteString("| | property | verdict | | why |\n|---|---|---|---|---|\n")
	}
	for _, v := range ranked(r) {
		sign, _ := sign(v)
		fmt.Fprintf(&b, "| %s | %s | %v | %s | %s |\n", sign, MarkdownText(v.Property), v.Verdict, meaning(v), MarkdownText(v.Why))
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "\n%s\n", MarkdownText(n))
	}
	if r.Repeat != "" {
		fmt.Fprintf(&b, "\n```\n%s\n```\n", term.Printable(r.Repeat))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the summary: %w", err)
	}
	return nil
}

var markdown = strings.NewReplacer("&", "&amp;", "<", "&lt;", "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, `\`, `\\`)

// MarkdownText makes of a text one line that Markdown shows as it is, in a table as well.
func MarkdownText(s string) string {
	return strings.Join(strings.Fields(term.Printable(markdown.Replace(s))), " ")
}

// Level is how grave an annotation is, in the words of GitHub's workflow commands.
type Level string

// The levels.
const (
	LevelError   Level = "error"
	LevelWarning Level = "warning"
	LevelNotice  Level = "notice"
)

// Annotation is what a CI system is to show in a prominent place.
type Annotation struct {
	Level Level
	Title string
	Text  string
}

// String is the annotation as a workflow command of GitHub's, on one line:
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
func (a Annotation) String() string {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	title := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	return fmt.Sprintf("::%s title=%s::%s", a.Level, title.Replace(a.Title), data.Replace(a.Text))
}

// undecided reports whether a run decides nothing though no property says so.
func undecided(r *record.Run) bool {
	return r.Status != record.StatusHeld && r.Status != record.StatusBroken &&
		!slices.ContainsFunc(r.Verdicts, func(v record.Verdict) bool { return v.Meaning().Fails() || v.Meaning().Open() })
}

// Annotations are those of a run: an error for each broken promise and each expectation that was missed, a warning for
// what should have been decided and was not, or a run that decides nothing, a notice for a known weakness.
func Annotations(r *record.Run) (list []Annotation) {
	add := func(l Level, v *record.Verdict) {
		text := fmt.Sprintf("%s: %s", meaning(v), v.Why)
		if r.Repeat != "" {
			text += "\nreproduce with: " + r.Repeat
		}
		list = append(list, Annotation{l, fmt.Sprintf("%s of %s is %v", v.Property, r.Target, v.Verdict), text})
	}
	for _, v := range ranked(r) {
		switch m := v.Meaning(); {
		case m.Fails():
			add(LevelError, v)
		case m.Open():
			add(LevelWarning, v)
		case m == record.Weakness, m == record.Excused:
			add(LevelNotice, v)
		}
	}
	if undecided(r) {
		list = append(list, Annotation{LevelWarning, headline(r) + " decided nothing", Sentence(r)})
	}
	return list
}
