package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"recount/harness"
	"recount/harness/record"
	"recount/history"
	"recount/internal/count"
	"recount/internal/hint"
	"recount/internal/term"
	"recount/targets"
	"recount/targets/specfile"
	"recount/targets/specfile/draft"
	"recount/workloads"
)

// validateFlags are what the command line says of a validation.
type validateFlags struct {
	options []string
	nodes   int
	on      string
	results string
	read    bool // the file, and nothing else
}

func init() { register(validateCommand) }

func validateCommand() *cobra.Command {
	var given validateFlags
	cmd := &cobra.Command{
		Use:   "validate SPEC.yaml",
		Short: "Try a spec file: start a node or a few, show what Recount sees of them, say what is missing",
		Long: `Try a spec file: start a node of it in a container, or as many as --nodes says, with the servers that they elect through; show
what Recount sees of them, and say what is missing. With --on virtual a server in Go that Recount builds is started in virtual
time instead. With --read the file is only read.

Exit status: 0 it can be tested; 1 something is wrong with what the nodes were seen to do; 254 the file is wrong, also where a
node answers and is not understood before it is ready; 255 a node did not come up, or the engine failed.`,
		Example: `  recount validate election.yaml
  recount validate election.yaml --nodes 3 --opt timeout=1s
  recount validate election.yaml --nodes 3 --on virtual
  recount validate election.yaml --read`,
		Args: one("spec file"),
		RunE: func(cmd *cobra.Command, args []string) error { return given.validate(cmd, args[0]) },
	}
	cmd.Flags().StringArrayVar(&given.options, "opt", nil, "a parameter of the spec, `name=value`; may be given again")
	cmd.Flags().IntVar(&given.nodes, "nodes", 0, "how many nodes to start; a server may need others to elect (default: the file's, or 1)")
	cmd.Flags().StringVar(&given.on, "on", record.OnDocker, "where to start them: docker, or virtual (a server in Go, in virtual time)")
	cmd.Flags().StringVar(&given.results, "results", "results", "`folder` under which the nodes' logs are kept")
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
	if !cmd.Flags().Changed("nodes") {
		g.nodes = cmp.Or(t.Size, 1)
	}
	if g.nodes < 1 || g.nodes > targets.MaxNodes {
		return hint.Add(fmt.Errorf("a trial of %s cannot be made", count.Of(g.nodes, "node")), "--nodes takes 1 to %d", targets.MaxNodes)
	}
	if all := []string{record.OnDocker, record.OnVirtual}; !slices.Contains(all, g.on) {
		return hint.Unknown("place to run on", g.on, all)
	}
	plan := record.Plan{Target: file, Options: options, On: g.on, Nodes: g.nodes}
	if err := harness.CheckTrial(plan); err != nil {
		return err
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "file\t%s reads well\n", file)
	b := t.Bounds(o)
	fmt.Fprintf(w, "times\tsilence %v, elect %v, poll %v\n", b.Silence, b.Elect, b.Poll)
	var wrong []string
	if !g.read {
		p, err := harness.Try(cmd.Context(), plan, harness.Config{Results: g.results, Progress: say(cmd)})
		if p != nil {
			wrong = tell(w, s, p)
		}
		if err != nil {
			return failure{errors.Join(w.Flush(), err)}
		}
	}
	if s.Writes.Given() {
		words, err := s.WritesWords(o)
		if err != nil {
			return errors.Join(w.Flush(), err)
		}
		fmt.Fprintf(w, "writes\t%s\n", words)
	}
	fmt.Fprintf(w, "faults\t%s\n", faultWords(s, plan))
	for _, m := range s.Missing() {
		fmt.Fprintf(w, "missing\t%s\n", m)
	}
	for _, m := range wrong {
		fmt.Fprintf(w, "wrong\t%s\n", term.Printable(m))
	}
	if len(wrong) == 0 && !g.read {
		fmt.Fprintf(w, "next\trecount run non-sticky-leader --target %s --on %s\n", record.Quote(file), g.on)
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
		n := 0
		for i, lines := range p.Log {
			n += len(lines)
			for _, line := range bothEnds(lines, max(2, 8/len(p.Log))) {
				fmt.Fprintf(w, "log\t%s\n", lineWords(p, i, line))
			}
		}
		kept(w, p)
		if n == 0 {
			fmt.Fprintf(w, "log\t%s\n", logWords(s, p))
		}
		return nil
	}
	fmt.Fprintf(w, "ready\tafter %v\n", p.Ready.Round(time.Millisecond))
	answered := p.Asked - p.Failed
	if s.Observe.Asks() {
		fmt.Fprintf(w, "asked\t%s, %s, the slowest after %v\n", count.Of(p.Asked, "time"), count.Of(answered, "answer"), p.Slow.Round(100*time.Microsecond))
		if p.Slow > s.Times.Poll {
			fmt.Fprintf(w, "\tslower than poll (%v): leaderships shorter than an answer takes are not seen\n", s.Times.Poll)
		}
		if p.Answer != nil {
			fmt.Fprintf(w, "answer\t%s\n", clip(strings.Join(strings.Fields(string(p.Answer)), " ")))
		}
	}
	for i, v := range p.Views {
		if i == 12 {
			fmt.Fprintf(w, "seen\t… and %d more %s\n", len(p.Views)-i, count.Noun(len(p.Views)-i, "change"))
			break
		}
		fmt.Fprintf(w, "seen\t%s\n", viewWords(s, v, len(p.Nodes) > 1))
	}
	for _, node := range slices.Sorted(maps.Keys(p.Roles)) {
		fmt.Fprintf(w, "roles\t%s\n", roleWords(p, node))
	}
	fmt.Fprintf(w, "log\t%s\n", logWords(s, p))
	kept(w, p)
	if s.Observe.Asks() && len(s.Observe.Logs) == 0 {
		if lines := logLines(s, p); lines != "" {
			fmt.Fprintf(w, "perhaps\tlogs: [%s]\n", term.Printable(lines))
		}
	}
	if p.Tried && p.Wrote == nil {
		fmt.Fprintf(w, "wrote\tthe leader once; it was accepted\n")
	}
	if p.Kept && p.Keeps == nil {
		fmt.Fprintf(w, "kept\ta number, by the leader: it was read, written and read again\n")
	}
	if path := s.Lacks(p.Answer); p.Led && path != "" {
		fmt.Fprintf(w, "missing\tleader: a node that leads answered without %s: is that the field? Where there is none, nobody is named\n", path)
	}
	if silent, due := p.Silent(); !due && len(silent) > 0 && p.Told > 0 {
		fmt.Fprintf(w, "missing\t%s told nothing in %v, and no line told that a node follows: whether they take part is not known%s\n", strings.Join(silent, ", "), p.Watched.Round(time.Second), beginsWords(s))
	}
	if text := strangerWords(p); text != "" && !s.Observe.Asks() {
		fmt.Fprintf(w, "missing\t%s\n", text+": each run waits until a majority has; where lines tell only sometimes whom nodes follow, leave (?P<leader>…) out of them")
	}
	return whatIsWrong(s, p, answered)
}

// logLines are lines of the nodes' logs that may tell of a change, as a file has them; "" if there are none.
func logLines(s *specfile.Spec, p *harness.Probe) string {
	var logs []draft.Log
	for i, lines := range p.Log {
		log := draft.Log{Lines: lines, Seen: true}
		for _, v := range p.Views {
			if v.Node == p.Nodes[i] {
				log.Led = log.Led || v.View.Role == history.Leader
				log.Terms = append(log.Terms, v.View.Term)
			}
		}
		logs = append(logs, log)
	}
	terms := draft.NoTerms
	switch {
	case s.HasTerms() && s.Observe.Tokens:
		terms = draft.LeadersTerms
	case s.HasTerms():
		terms = draft.AllTerms
	}
	var words []string
	for _, l := range draft.Lines(logs, terms) {
		words = append(words, l.String())
	}
	return strings.Join(words, ", ")
}

// strangerWords says which nodes never named the one that led.
func strangerWords(p *harness.Probe) string {
	strangers := p.Strangers()
	if len(strangers) == 0 {
		return ""
	}
	return fmt.Sprintf("%s named no leader in %v, and another leads", strings.Join(strangers, ", "), p.Watched.Round(time.Second))
}

// bothEnds are so many lines of the beginning of a log and of its end: a server that was started wrongly may say so first, and then at length
// how it is started. Of what is between, a few lines that speak of an error are shown: between a banner and a stack may stand the cause.
func bothEnds(lines []string, most int) []string {
	left := len(lines) - 2*most
	if left <= 1 { // one line is no longer than to say that there is one
		return lines
	}
	var bad []string
	for _, line := range lines[most : len(lines)-most] {
		if len(bad) < 4 && trouble.MatchString(line) {
			bad = append(bad, line)
		}
	}
	gap := fmt.Sprintf("… and %d more %s", left, count.Noun(left, "line"))
	if len(bad) > 0 {
		gap += ", among them:"
		bad = append(bad, "…")
	}
	return slices.Concat(lines[:most], []string{gap}, bad, lines[len(lines)-most:])
}

var trouble = regexp.MustCompile(`(?i)\b(error|fatal|panic)`)

// roleWords are the words that a node said of its role, the most frequent first, and how often.
func roleWords(p *harness.Probe, node string) string {
	said := p.Roles[node]
	words := slices.SortedFunc(maps.Keys(said), func(a, b string) int { return cmp.Or(said[b]-said[a], strings.Compare(a, b)) })
	var all []string
	for _, word := range words[:min(len(words), 8)] {
		all = append(all, fmt.Sprintf("%q %s", clip(word), count.Of(said[word], "time")))
	}
	if more := len(words) - len(all); more > 0 {
		all = append(all, fmt.Sprintf("and %d other words", more))
	}
	text := strings.Join(all, ", ")
	if len(p.Nodes) > 1 {
		text = node + "  " + text
	}
	return text
}

func logWords(s *specfile.Spec, p *harness.Probe) string {
	n, last := 0, ""
	for i, lines := range p.Log {
		if n += len(lines); len(lines) > 0 {
			last = lineWords(p, i, lines[len(lines)-1])
		}
	}
	if n == 0 {
		return "nothing: what a server writes is read if it goes to standard output, standard error or the file that the field log names, unbuffered"
	}
	text := count.Of(n, "line")
	if len(s.Observe.Logs) > 0 {
		text += fmt.Sprintf(", %d of them told a change", p.Told)
	}
	return text + "; the last: " + last
}

// lineWords is a line of a node's log, with the node's name where there are others.
func lineWords(p *harness.Probe, node int, line string) string {
	if len(p.Nodes) > 1 {
		line = p.Nodes[node] + "  " + line
	}
	return clip(strings.TrimSpace(line))
}

// kept shows where the whole lies of what is shown in part.
func kept(w io.Writer, p *harness.Probe) {
	fmt.Fprintf(w, "logs\t%s\n", p.Logs)
	if p.Answers != "" {
		fmt.Fprintf(w, "answers\t%s\n", p.Answers)
	}
}

func whatIsWrong(s *specfile.Spec, p *harness.Probe, answered int) (wrong []string) {
	if s.Observe.Asks() && answered == 0 {
		return []string{fmt.Sprintf("no question was answered: %s", hint.Line(p.Why))}
	}
	if mute := slices.Sorted(maps.Keys(p.Mute)); s.Observe.Asks() && len(mute) > 0 {
		what := "never answered"
		if specfile.Unreadable(p.Mute[mute[0]]) {
			what = "gave no answer that could be read"
		}
		wrong = append(wrong, fmt.Sprintf("%s %s: %s", strings.Join(mute, ", "), what, hint.Line(p.Mute[mute[0]])))
	}
	if silent := silentWords(s, p); silent != "" {
		wrong = append(wrong, silent)
	}
	if text := strangerWords(p); text != "" && s.Observe.Asks() && 2*p.Unread < max(1, p.Asked) { // else they may have named it, and were not understood
		wrong = append(wrong, text+": "+harness.NotJoined)
	}
	if odds := p.AtOdds(); odds != "" {
		wrong = append(wrong, odds)
	}
	if counts := p.TwoCounts(); counts != "" {
		wrong = append(wrong, counts)
	} else if mixed := p.Mixed(); mixed != "" {
		wrong = append(wrong, mixed)
	}
	if p.Unread > 0 {
		wrong = append(wrong, fmt.Sprintf("%d of %d answers could not be read; the last: %s", p.Unread, p.Asked, hint.Line(p.Strange)))
	}
	if p.Lines != "" {
		wrong = append(wrong, p.Lines)
	}
	if untold := p.Untold(); untold != "" {
		wrong = append(wrong, untold)
	}
	if 2*p.Late > answered {
		wrong = append(wrong, fmt.Sprintf("%d of %d answers took more than %v, for which a run waits: %s", p.Late, answered, workloads.Patience(s.Times.Poll), p.Sooner))
	}
	termed := slices.ContainsFunc(p.Views, func(v harness.ProbeView) bool { return v.View.Term > 0 })
	switch {
	case !p.Led && 2*p.Unread >= p.Asked && p.Unread > 0: // what was said of who leads is not known
	case !p.Led:
		wrong = append(wrong, neverLed(s, p))
	case s.HasTerms() && !termed:
		wrong = append(wrong, "its term was 0 all the time: is that the field?")
	}
	if alone := aloneWords(p); alone != "" {
		wrong = append(wrong, alone)
	}
	if p.Wrote != nil {
		wrong = append(wrong, "the leader wrote once, which was not accepted: "+hint.Line(p.Wrote))
	}
	if p.Keeps != nil {
		wrong = append(wrong, "the leader was to keep a number by register: "+hint.Line(p.Keeps))
	}
	if p.Apart != nil {
		wrong = append(wrong, "processes: "+hint.Line(p.Apart))
	}
	if p.Alarm != "" {
		wrong = append(wrong, "a line is an alarm though nothing was done to any node: "+clip(p.Alarm))
	}
	if len(s.Observe.Logs) > 0 && p.Told == 0 {
		wrong = append(wrong, "no line of its log matched one of logs")
	}
	return wrong
}

// beginsWords says what may be said of nodes that tell nothing until they lead.
func beginsWords(s *specfile.Spec) string {
	if s.Observe.Standing && s.Observe.Begins == nil {
		return "; if they do, and say nothing until they lead: begins: follower beside lines in logs"
	}
	return ""
}

// aloneWords says which nodes, of those that have not come together, listen where no other reaches them.
func aloneWords(p *harness.Probe) string {
	var all []string
	for _, node := range slices.Sorted(maps.Keys(p.Alone)) {
		all = append(all, fmt.Sprintf("%s (%s)", node, strings.Trim(fmt.Sprint(p.Alone[node]), "[]")))
	}
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all, ", ") + " listen at 127.0.0.1 alone, where no other node reaches them: others connect to {{.Addr}}"
}

// silentWords says which nodes told nothing by their logs, where nodes are asked for nothing and tell that they follow.
func silentWords(s *specfile.Spec, p *harness.Probe) string {
	silent, due := p.Silent()
	if s.Observe.Asks() || !due || len(silent) == 0 {
		return ""
	}
	return fmt.Sprintf("%s told nothing in %v: were they told of the others rightly? Their logs may say", strings.Join(silent, ", "), p.Watched.Round(time.Second))
}

// faultWords says which faults can take effect on the target.
func faultWords(s *specfile.Spec, p record.Plan) string {
	drawn := harness.Drawn(p.Target, p.Options, p.On)
	text := fmt.Sprintf("%d of recount list faults", len(drawn))
	undrawn := harness.Undrawn(p.Target, p.Options, p.On)
	for _, lack := range []harness.Lack{harness.NoData, harness.NoResign, harness.NoMembers, harness.NoLearner} {
		if names := undrawn[lack]; len(names) > 0 {
			text += fmt.Sprintf("; without %s: no %s", lack, strings.Join(names, ", "))
		}
	}
	if names := undrawn[harness.NoClocks]; len(names) > 0 {
		text += fmt.Sprintf("; on %s, where clocks cannot be skewed: no %s", runtime.GOARCH, strings.Join(names, ", "))
	}
	if names := slices.Sorted(maps.Keys(s.Processes)); len(names) > 0 {
		text += "; pause and kill of n1/" + strings.Join(names, ", n1/")
	}
	return text
}

// neverLed says what may be wrong where nobody led, and what was configured.
func neverLed(s *specfile.Spec, p *harness.Probe) string {
	looked := "none of the values of leader was seen"
	own := slices.IndexFunc(p.Views, func(v harness.ProbeView) bool { return v.View.Leader == v.Node && v.View.Role != history.Leader })
	switch {
	case own >= 0: // a line that all write, led and leader, has a role that is not all theirs
		v := p.Views[own]
		looked = fmt.Sprintf("%s at %.2fs names itself, as a %v: what each node says of who leads, be it itself, takes no role", v.Node, v.At.Seconds(), v.View.Role)
	case s.Observe.Role.Given():
		looked = fmt.Sprintf("role was never %s", strings.Join(s.Observe.Leads, " or "))
	case s.Observe.Leader.Given():
		looked = fmt.Sprintf("none named itself at %v", s.Observe.Leader)
	}
	if n := len(p.Nodes); n > 1 {
		words := fmt.Sprintf("nobody led, of %d nodes: %s; is that right?", n, looked)
		if s.Register.Get != nil {
			words += " Where every node serves the register and none leads, --workload register --require linearizable judges that alone"
		}
		return words
	}
	return "it never led, though it was alone: " + looked + "; is that right? May it elect itself with {{.Size}} 1? Else take --nodes 3"
}

func viewWords(s *specfile.Spec, v harness.ProbeView, many bool) string {
	how := "asked"
	if v.Told {
		how = "its log told"
	}
	leader := cmp.Or(v.View.Leader, "nobody")
	text := fmt.Sprintf("%6.2fs  ", v.At.Seconds())
	if many {
		text += v.Node + "  "
	}
	text += fmt.Sprintf("role %v, ", v.View.Role)
	if s.HasTerms() {
		text += fmt.Sprintf("term %d, ", v.View.Term)
	}
	text += "leader " + leader
	if v.View.Torn {
		text += ", not of one instant"
	}
	return text + "  (" + how + ")"
}

// clip is as much as there is room for of what a node says.
func clip(s string) string { return term.Clip(term.Printable(s), 160) }
