package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"recount/harness"
	"recount/harness/record"
	"recount/targets/specfile"
)

// validateFlags are what the command line says of a validation.
type validateFlags struct {
	options []string
	read    bool // the file, and nothing else
}

func init() { register(validateCommand) }

func validateCommand() *cobra.Command {
	var given validateFlags
	cmd := &cobra.Command{
		Use:   "validate SPEC.yaml",
		Short: "Try a spec file: start one node, show what Recount sees of it, say what is missing",
		Long: `Try a spec file: start one node of it in a container, alone, show what Recount sees of it, and say what is missing. With
--read the file is only read.

Exit status: 0 it can be tested; 1 something is wrong with what the node was seen to do; 254 the file is wrong; 255 the node
did not come up, or the engine failed.`,
		Example: `  recount validate election.yaml
  recount validate election.yaml --opt timeout=1s
  recount validate election.yaml --read`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return given.validate(cmd, args[0]) },
	}
	cmd.Flags().StringArrayVar(&given.options, "opt", nil, "a parameter of the spec, `name=value`; may be given again")
	cmd.Flags().BoolVar(&given.read, "read", false, "only read the file")
	return cmd
}

func (g *validateFlags) validate(cmd *cobra.Command, file string) error {
	s, err := specfile.Load(file)
	if err != nil {
		return err
	}
	options, err := parseOptions(g.options)
	if err != nil {
		return err
	}
	t := s.Target(file)
	o, err := t.Parse(options)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "file\t%s reads well\n", file)
	b := t.Bounds(o)
	fmt.Fprintf(w, "times\tsilence %v, elect %v, poll %v\n", b.Silence, b.Elect, b.Poll)
	var wrong []string
	if !g.read {
		p, err := harness.Try(cmd.Context(), file, options, harness.Config{Progress: say(cmd)})
		if p != nil {
			wrong = tell(w, s, p)
		}
		if err != nil {
			return failure{errors.Join(w.Flush(), err)}
		}
	}
	for _, m := range s.Missing() {
		fmt.Fprintf(w, "missing\t%s\n", m)
	}
	for _, m := range wrong {
		fmt.Fprintf(w, "wrong\t%s\n", m)
	}
	if len(wrong) == 0 && !g.read {
		fmt.Fprintf(w, "next\trecount run non-sticky-leader --target %s --on docker\n", record.Quote(file))
	}
	if err := w.Flush(); err != nil {
		return failure{err}
	}
	if len(wrong) > 0 {
		return verdict(record.StatusBroken)
	}
	return nil
}

// tell shows what a node was seen to do, and returns what is wrong with it.
func tell(w io.Writer, s *specfile.Spec, p *harness.Probe) (wrong []string) {
	fmt.Fprintf(w, "image\t%s\n", p.Image)
	var args []string
	for _, a := range p.Args {
		args = append(args, record.Quote(a))
	}
	fmt.Fprintf(w, "command\t%s\n", strings.Join(args, " "))
	if p.Asked == 0 {
		for _, line := range p.Log[max(0, len(p.Log)-8):] {
			fmt.Fprintf(w, "log\t%s\n", clip(line))
		}
		if len(p.Log) == 0 {
			fmt.Fprintf(w, "log\t%s\n", logWords(s, p))
		}
		return nil
	}
	fmt.Fprintf(w, "ready\tafter %v\n", p.Ready.Round(time.Millisecond))
	answered := p.Asked - p.Failed
	if s.Observe.HTTP != nil || s.Observe.Command != nil {
		fmt.Fprintf(w, "asked\t%d times, %d answers, the slowest after %v\n", p.Asked, answered, p.Slow.Round(100*time.Microsecond))
		if p.Slow > s.Times.Poll {
			fmt.Fprintf(w, "\tslower than poll (%v): leaderships shorter than an answer takes are not seen\n", s.Times.Poll)
		}
		if p.Answer != nil {
			fmt.Fprintf(w, "answer\t%s\n", clip(strings.Join(strings.Fields(string(p.Answer)), " ")))
		}
	}
	for i, v := range p.Views {
		if i == 8 {
			fmt.Fprintf(w, "seen\t… and %d more changes\n", len(p.Views)-i)
			break
		}
		fmt.Fprintf(w, "seen\t%s\n", viewWords(s, v))
	}
	fmt.Fprintf(w, "log\t%s\n", logWords(s, p))
	if path := s.Lacks(p.Answer); p.Led && path != "" {
		fmt.Fprintf(w, "missing\tleader: a node that leads answered without %s: is that the field? Where there is none, nobody is named\n", path)
	}
	return whatIsWrong(s, p, answered)
}

func logWords(s *specfile.Spec, p *harness.Probe) string {
	n := len(p.Log)
	if n == 0 {
		return "nothing: what a server writes is read if it goes to standard output or standard error, unbuffered"
	}
	text := fmt.Sprintf("%d lines", n)
	if n == 1 {
		text = "1 line"
	}
	if len(s.Observe.Logs) > 0 {
		text += fmt.Sprintf(", %d of them told a change", p.Told)
	}
	return text + "; the last: " + clip(p.Log[n-1])
}

func whatIsWrong(s *specfile.Spec, p *harness.Probe, answered int) (wrong []string) {
	asks := s.Observe.HTTP != nil || s.Observe.Command != nil
	if asks && answered == 0 {
		return []string{fmt.Sprintf("no question was answered: %v", p.Why)}
	}
	termed := slices.ContainsFunc(p.Views, func(v harness.ProbeView) bool { return v.View.Term > 0 })
	switch {
	case !p.Led:
		wrong = append(wrong, "it never led, though it was alone: are the values of role right? may it elect itself with {{.Size}} 1?")
	case s.HasTerms() && !termed:
		wrong = append(wrong, "its term was 0 all the time: is that the field?")
	}
	if len(s.Observe.Logs) > 0 && p.Told == 0 {
		wrong = append(wrong, "no line of its log matched one of logs")
	}
	return wrong
}

func viewWords(s *specfile.Spec, v harness.ProbeView) string {
	how := "asked"
	if v.Told {
		how = "its log told"
	}
	leader := cmp.Or(v.View.Leader, "nobody")
	text := fmt.Sprintf("%6.2fs  role %v, ", v.At.Seconds(), v.View.Role)
	if s.HasTerms() {
		text += fmt.Sprintf("term %d, ", v.View.Term)
	}
	text += "leader " + leader
	if v.View.Torn {
		text += ", not of one instant"
	}
	return text + "  (" + how + ")"
}

func clip(s string) string {
	const most = 160
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
