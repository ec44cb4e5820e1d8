package specfile

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"recount/election"
	"recount/internal/hint"
	"recount/internal/option"
)

// Writes is the resource of the election's own that a leader guards: how it is written to, by a command, or how it tells what
// was written, by lines of a log. Neither is set where there is none.
type Writes struct {
	Command           []*template.Template // run in the container of a node that leads, with {{.Token}} and {{.Value}}
	Log               *regexp.Regexp       // a line that tells how a write ended, with the groups token and value
	Begins            *regexp.Regexp       // a line that a node writes before it sends a write, with the same groups
	Of                *Service             // whose one server decides, and writes the lines; nil where nodes write them
	Accepted, Refused *regexp.Regexp       // what the command prints, or the line says; anything else is unknown
}

const writesWay = "writes: {command: [PROGRAM, '{{.Token}}', '{{.Value}}'], accepted: PATTERN, refused: PATTERN}; or log: in the place of command"

// readWrites reads how the leader's writes are made, or heard of.
func (s *Spec) readWrites(_ value, f map[string]value) error {
	v, ok := f["writes"]
	if !ok {
		return nil
	}
	w, err := v.fields("command", "log", "begins", "of", "accepted", "refused")
	if err != nil {
		return err
	}
	command, commanded := w["command"]
	log, logged := w["log"]
	switch {
	case commanded && logged:
		return log.bad("a command is run by the workload fence, a log tells what the server writes by itself", "writes: both command and log are given")
	case commanded:
		err = s.readWriter(command, w)
	case logged:
		err = s.readTold(log, w)
	default:
		return v.bad(writesWay, "writes: command is missing: how does a leader write?")
	}
	if err != nil {
		return err
	}
	for _, name := range []string{"accepted", "refused"} {
		p, ok := w[name]
		if !ok {
			return v.bad(writesWay, "writes: %s is missing: what says that a write was %s?", name, name)
		}
		re, err := p.pattern()
		if err != nil {
			return err
		}
		if name == "accepted" {
			s.Writes.Accepted = re
		} else {
			s.Writes.Refused = re
		}
	}
	if s.Writes.Accepted.String() == s.Writes.Refused.String() {
		return w["refused"].bad(writesWay, "writes: accepted and refused are the same pattern")
	}
	return nil
}

// readWriter reads the command that writes. What the token is makes a difference to it.
func (s *Spec) readWriter(v value, w map[string]value) error {
	for _, field := range []string{"begins", "of"} {
		if at, ok := w[field]; ok {
			return at.bad("leave it out", "writes: %s goes with log", field)
		}
	}
	if !s.HasTerms() {
		return v.bad("observe: {term: FIELD}; or have a log tell the token: writes: {log: PATTERN}", "writes: the token is the term, and no term is observed")
	}
	one, err := s.example()
	if err != nil {
		return err
	}
	other := one
	one.write, other.write = &election.Write{Token: 1, Value: 1}, &election.Write{Token: 2, Value: 1}
	if s.Writes.Command, err = one.templates(v); err != nil {
		return err
	}
	first, err := one.renderAll(s.Writes.Command)
	if err != nil {
		return err
	}
	second, err := other.renderAll(s.Writes.Command)
	if err != nil {
		return err
	}
	switch {
	case len(first) == 0:
		return v.bad(writesWay, "writes: the command is empty")
	case slices.Equal(first, second):
		return v.bad("{{.Token}}, which the resource compares with the highest that it has accepted", "writes: the command does not present the token")
	}
	return nil
}

// readTold reads the lines that tell of writes.
func (s *Spec) readTold(v value, w map[string]value) (err error) {
	if s.Writes.Log, err = toldBy(v); err != nil {
		return err
	}
	begins, begun := w["begins"]
	of, ofService := w["of"]
	groups := s.Writes.Log.SubexpNames()
	switch {
	case begun == ofService:
		return v.bad("begins: PATTERN of the line that a node writes before it sends a write; or of: SERVICE, whose one server decides",
			"writes: log: when did a write begin? One of begins and of is wanted")
	case begun && slices.Contains(groups, "by"):
		return v.bad("leave the group out", "writes: log: a node's log tells of its own writes, by is for those of a service")
	case begun:
		s.Writes.Begins, err = toldBy(begins)
		return err
	}
	name, err := of.text()
	if err != nil {
		return err
	}
	var known []string
	for _, one := range s.Services {
		if known = append(known, one.Name); one.Name == name {
			s.Writes.Of = one
		}
	}
	switch {
	case len(known) == 0:
		return of.bad(serviceWay, "writes: of: there are no services")
	case s.Writes.Of == nil:
		return &fault{of.Line, of.Column, hint.Unknown("service", name, known)}
	}
	example, err := s.example()
	if err != nil {
		return err
	}
	if n, err := s.Writes.Of.count(example); err != nil || n != 1 {
		return of.bad("nodes: 1, or have the nodes tell: begins: PATTERN", "writes: of: %s has %d servers: the order of the lines of one alone is known", name, n)
	}
	return nil
}

// toldBy reads the pattern of a line that tells of a write.
func toldBy(v value) (*regexp.Regexp, error) {
	re, err := v.pattern()
	if err != nil {
		return nil, err
	}
	const way = `'wrote value=(?P<value>\d+) token=(?P<token>\d+)'`
	for _, group := range []string{"token", "value"} {
		if !slices.Contains(re.SubexpNames(), group) {
			return nil, v.bad(way, "writes: %s: the pattern has no group %s", v.name, group)
		}
	}
	for _, group := range re.SubexpNames() {
		if group != "" && group != "token" && group != "value" && group != "by" {
			return nil, v.bad(way, "writes: %s: a line tells the token, the value and, of a service, by whom, not %q", v.name, group)
		}
	}
	return re, nil
}

// Given reports whether the election has a resource of its own.
func (w *Writes) Given() bool { return w.Command != nil || w.Log != nil }

// WritesWords say how the resource is written to, by these options, or heard of.
func (s *Spec) WritesWords(o option.Values) (string, error) {
	w := s.Writes
	outcome := fmt.Sprintf("; accepted: %s, refused: %s", w.Accepted, w.Refused)
	switch {
	case w.Command != nil:
		one, err := s.example()
		if err != nil {
			return "", err
		}
		one.options, one.write = o, &election.Write{Token: 3, Value: 7}
		args, err := one.renderAll(w.Command)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("by %s, for the value %d with the token %d", strings.Join(args, " "), one.write.Value, one.write.Token) + outcome, nil
	case w.Of != nil:
		return fmt.Sprintf("told by the log of %s: %s", w.Of.Name, w.Log) + outcome, nil
	}
	return fmt.Sprintf("told by the logs of nodes: begun by %s, ended by %s", w.Begins, w.Log) + outcome, nil
}

// Resource is how the election's own resource is written to, or heard of.
func (y *system) Resource() (election.Writer, election.WriteReader) {
	switch {
	case y.Writes.Command != nil:
		return y, nil
	case y.Writes.Log != nil:
		return nil, y
	}
	return nil, nil
}

// Write runs the command in the node's container.
func (y *system) Write(ctx context.Context, by election.Member, all []election.Member, what election.Write) (accepted bool, err error) {
	if y.exec == nil {
		return false, errNoExec
	}
	w := y.words(by, all)
	w.write = &what
	args, err := w.renderAll(y.Writes.Command)
	if err != nil {
		return false, err
	}
	out, err := y.exec(ctx, by, args)
	if err != nil {
		return false, err
	}
	switch y.Writes.stage(strings.TrimSpace(string(out))) {
	case election.Accepted:
		return true, nil
	case election.Refused:
		return false, nil
	}
	return false, fmt.Errorf("%q is neither accepted nor refused", clip(out))
}

// stage is how a write has ended, by what was said of it.
func (w *Writes) stage(said string) election.WriteStage {
	switch accepted, refused := w.Accepted.MatchString(said), w.Refused.MatchString(said); {
	case accepted == refused:
		return election.Unclear
	case accepted:
		return election.Accepted
	default:
		return election.Refused
	}
}

// ReadWrite reads a line of the log of a node, or of the one server that decides.
func (y *system) ReadWrite(of election.ID, line string) (news election.WriteNews, ok bool) {
	y.mu.Lock()
	server, isServer := y.met[of]
	among := y.among
	y.mu.Unlock()
	if news.Decided = y.Writes.Of != nil; news.Decided != isServer {
		return news, false
	}
	if isServer {
		if one, _ := y.serving(server, among); one == nil || one.Service != y.Writes.Of {
			return news, false
		}
	} else if m := y.Writes.Begins.FindStringSubmatch(line); m != nil {
		news.Stage = election.Begun
		return news, y.readWrite(&news, y.Writes.Begins, m)
	}
	m := y.Writes.Log.FindStringSubmatch(line)
	if m == nil {
		return news, false
	}
	news.Stage = y.Writes.stage(line)
	return news, y.readWrite(&news, y.Writes.Log, m)
}

// readWrite reads what a line tells of a write.
func (y *system) readWrite(news *election.WriteNews, re *regexp.Regexp, m []string) bool {
	var err error
	if news.Token, err = strconv.ParseUint(group(re, m, "token"), 10, 64); err != nil {
		return false
	}
	if news.Value, err = strconv.ParseInt(group(re, m, "value"), 10, 64); err != nil {
		return false
	}
	if by := group(re, m, "by"); by != "" {
		news.By = numbered(by)
	}
	return true
}
