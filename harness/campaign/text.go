package campaign

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"recount/harness/estimate"
	"recount/internal/count"
	"recount/report"
)

// Sentence says what the campaign has come to.
func (s *Summary) Sentence() string {
	n := map[Standing]int{}
	for _, f := range s.Findings {
		n[f.State]++
	}
	unshrunk, unstarted := 0, 0
	for _, t := range s.Targets {
		unshrunk += t.Unshrunk
		if t.Unstarted != nil {
			unstarted += t.Unstarted.Runs
		}
	}
	found := fmt.Sprintf("%d new findings, %d known, %d not found again", n[New], n[Seen], n[Gone])
	switch {
	case n[New]+n[Seen]+n[Gone] == 0 && unshrunk > 0:
		found = fmt.Sprintf("%d runs broke what is looked for, and none of them was shrunk", unshrunk)
	case n[New]+n[Seen]+n[Gone] == 0:
		found = "nothing was found"
	}
	if unstarted > 0 {
		found += fmt.Sprintf(", and %s did not start", count.Of(unstarted, "run"))
	}
	switch {
	case s.Failed != "":
		why, _, _ := strings.Cut(s.Failed, "\n") // what follows are stacks and the like
		return fmt.Sprintf("Failed after %d runs: %s; until then %s.", s.Runs, why, found)
	case s.State == Stopped && s.Planned > 0:
		return fmt.Sprintf("Stopped after %d of %d runs; until then %s. The same command goes on.", s.Runs, s.Planned, found)
	case s.State == Stopped:
		return fmt.Sprintf("Stopped after %d runs; until then %s. The same command goes on.", s.Runs, found)
	case s.State == Running:
		return fmt.Sprintf("Under way, %d runs; so far %s.", s.Runs, found)
	case s.Spent:
		return fmt.Sprintf("The budget was spent after %d runs; %s.", s.Runs, found)
	}
	return fmt.Sprintf("All %d runs were made; %s.", s.Runs, found)
}

// Text writes the summary for people.
func (s *Summary) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d runs in %v\n", s.Name, s.Runs, s.Took.Round(100*time.Millisecond))
	for _, f := range s.Findings {
		fmt.Fprintf(&b, "\n%s: %s of %s\n", f.State.Words(), f.Property, labelled(f.Target, f.Version))
		line(&b, "why", f.Sentence)
		line(&b, "takes", f.takes())
		if r := f.Rate(); r != "" {
			line(&b, "rate", r)
		}
		line(&b, "seen", fmt.Sprintf("first %s, last %s", f.First.Format(time.DateOnly), f.Last.Format(time.DateOnly)))
		line(&b, "repeat", f.Repeat)
	}
	b.WriteString("\nhow much was looked at\n")
	for _, t := range s.Targets {
		fmt.Fprintf(&b, "  %s: %s\n", labelled(t.Target, t.Version), t.words())
		for _, more := range t.Details() {
			fmt.Fprintf(&b, "    %s\n", more)
		}
	}
	fmt.Fprintf(&b, "\nstatus: %d  %s\n", s.Status, s.Sentence())
	_, err := io.WriteString(w, b.String())
	return err
}

func line(b *strings.Builder, name, value string) { fmt.Fprintf(b, "  %-8s %s\n", name, value) }

func labelled(target, version string) string {
	if version == "" {
		return target
	}
	return target + " " + version
}

// takes is what the signature says after target and property.
func (f *Finding) takes() string {
	if _, after, ok := strings.Cut(f.Signature, ": "+f.Property+": "); ok {
		return after
	}
	return f.Signature
}

// Words say how a finding stands: that runs have not found it again is all that is known of what is gone.
func (s Standing) Words() string {
	if s == Gone {
		return "not found again"
	}
	return string(s)
}

// Rate says in how many runs it was seen, and how often it can be expected; "" where nobody has counted those that did not show it.
func (f *Finding) Rate() string {
	switch {
	case f.State != Gone:
		return rate(f.Runs, f.Of)
	case f.Unseen > 0:
		return rate(0, f.Unseen)
	}
	return ""
}

// rate is how many runs showed something.
func rate(runs, of int) string {
	return fmt.Sprintf("%d of %d runs, %v", runs, of, estimate.Of(runs, of))
}

// words says how much of a target was looked at.
func (t *Looked) words() string {
	switch {
	case t.Runs == 0 && (t.Unstarted != nil || len(t.GivenUp) > 0):
		return "no run started: nothing is known"
	case t.Runs == 0:
		return "no run was made: nothing is known"
	}
	return fmt.Sprintf("%d runs reached %d situations; one more reaches a new one with a chance of %v", t.Runs, t.Keys, t.Chance)
}

// Details are what was not looked at, and what broke besides.
func (t *Looked) Details() (all []string) {
	if u := t.Unstarted; u != nil {
		all = append(all, u.words()...)
	}
	for _, g := range t.GivenUp {
		all = append(all, g.words())
	}
	if t.Unshrunk > 0 {
		all = append(all, fmt.Sprintf("%d runs broke what is looked for in circumstances that were not shrunk", t.Unshrunk))
	}
	var broken []string
	for _, property := range slices.Sorted(maps.Keys(t.Broken)) {
		broken = append(broken, fmt.Sprintf("%s in %d", property, t.Broken[property]))
	}
	var vain []string
	for _, name := range t.NoEffect {
		vain = append(vain, name+t.Vain[name].Words("for one"))
	}
	var never []string
	if t.Sometimes != nil {
		never = t.Sometimes.Never
	}
	for _, list := range []struct {
		about string
		names []string
	}{
		{"runs by what they broke, promised or not: ", broken},
		{"faults that were never drawn: ", t.NotDrawn},
		{"faults that were never seen to take effect: ", vain},
		{"faults that were never aimed at: ", t.NotAimed},
		{"lines that are to come sometimes and never did: ", never},
	} {
		if len(list.names) > 0 && t.Runs > 0 {
			all = append(all, list.about+strings.Join(list.names, ", "))
		}
	}
	return all
}

// Markdown writes the summary for a page of a CI system.
func (s *Summary) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## Recount campaign: %s\n\n**Status %d.** %s\n\n", cell(s.Name), s.Status, cell(s.Sentence()))
	if len(s.Findings) > 0 {
		b.WriteString("| | target | property | takes | rate |\n|---|---|---|---|---|\n")
		for _, f := range s.Findings {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", f.State.Words(), cell(labelled(f.Target, f.Version)), cell(f.Property), cell(f.takes()), f.Rate())
		}
		b.WriteString("\n")
	}
	b.WriteString("| target | runs | situations | chance of a new one |\n|---|---|---|---|\n")
	for _, t := range s.Targets {
		fmt.Fprintf(&b, "| %s | %d | %d | %v |\n", cell(labelled(t.Target, t.Version)), t.Runs, t.Keys, t.Chance)
	}
	b.WriteString("\n")
	for _, t := range s.Targets {
		for _, more := range t.Details() {
			fmt.Fprintf(&b, "- %s: %s\n", cell(labelled(t.Target, t.Version)), cell(more))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Annotations are what a CI system is to show beside the code.
func (s *Summary) Annotations() (all []report.Annotation) {
	for _, f := range s.Findings {
		if f.State == New {
			all = append(all, report.Annotation{
				Level: report.LevelError, Title: fmt.Sprintf("%s of %s", f.Property, labelled(f.Target, f.Version)),
				Text: fmt.Sprintf("%s: %s\nrepeat with: %s", f.Sentence, rate(f.Runs, f.Of), f.Repeat),
			})
		}
	}
	return all
}

func cell(s string) string { return report.MarkdownText(s) }

// Text writes the comparison for people.
func (c *Comparison) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s → %s\n", c.A.words(), c.B.words())
	for _, ch := range c.Changes {
		fmt.Fprintf(&b, "\n%s: %s of %s\n", ch.words(), ch.Property, labelled(ch.Target, ch.Version))
		line(&b, "takes", ch.takes())
		line(&b, "rate", ch.rates())
		line(&b, "repeat", ch.Repeat)
	}
	for _, t := range c.Untested {
		fmt.Fprintf(&b, "\n%s was not tested the second time\n", t)
	}
	fmt.Fprintf(&b, "\nstatus: %d  %s\n", c.Status, c.Sentence())
	_, err := io.WriteString(w, b.String())
	return err
}

// words say how a finding stands on the second side, as Standing.Words does.
func (c *Change) words() string {
	if c.State == GoneThere {
		return Gone.Words()
	}
	return c.State
}

// rates are how often it was seen, before and after; of what is only perhaps there nobody knows how often it is.
func (c *Change) rates() string {
	if c.State == PerhapsThere {
		return fmt.Sprintf("%v → not known: runs broke what is looked for in circumstances that were not shrunk", c.Before)
	}
	return fmt.Sprintf("%v → %v", c.Before, c.After)
}

func (s Side) words() string {
	return fmt.Sprintf("%s@%.8s (%s, %d runs)", s.Name, s.Edition, s.Started.Format("2006-01-02 15:04"), s.Runs)
}

// Sentence says what the comparison comes to.
func (c *Comparison) Sentence() string {
	n := map[string]int{}
	for _, ch := range c.Changes {
		n[ch.State]++
	}
	perhaps := ""
	if n[PerhapsThere] > 0 {
		perhaps = fmt.Sprintf(", %d perhaps there", n[PerhapsThere])
	}
	return fmt.Sprintf("%d new, %d still there%s, %d not found again.", n[NewThere], n[StillThere], perhaps, n[GoneThere])
}

// Markdown writes the comparison for a page of a CI system.
func (c *Comparison) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## Recount: %s → %s\n\n**Status %d.** %s\n\n", cell(c.A.words()), cell(c.B.words()), c.Status, c.Sentence())
	if len(c.Changes) > 0 {
		b.WriteString("| | target | property | takes | rate |\n|---|---|---|---|---|\n")
	}
	for _, ch := range c.Changes {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", ch.words(), cell(labelled(ch.Target, ch.Version)), cell(ch.Property), cell(ch.takes()), ch.rates())
	}
	for _, t := range c.Untested {
		fmt.Fprintf(&b, "\n%s was not tested the second time.\n", cell(t))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
