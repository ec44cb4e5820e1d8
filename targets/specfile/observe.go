package specfile

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"recount/checkers"
	"recount/election"
	"recount/history"
	"recount/internal/hint"
	"recount/targets"
)

const observeWays = "observe: {http: /status, role: {at: FIELD, leader: VALUE}, term: FIELD, leader: FIELD}; or metrics:, command:, logs:"

// readObserve reads how a node tells who leads.
func (s *Spec) readObserve(root value, f map[string]value) error {
	v, ok := f["observe"]
	if !ok {
		return root.bad(observeWays, "observe is missing: how does a node tell who leads?")
	}
	o, err := v.fields("http", "metrics", "command", "port", "status", "tls", "headers", "method", "body", "match", "atomic", "role", "term", "tenure", "leader", "id", "logs")
	if err != nil {
		return err
	}
	if err := s.readSource(v, o); err != nil {
		return err
	}
	if m, ok := o["match"]; ok {
		if s.Observe.Match, err = m.pattern(); err != nil {
			return err
		}
	}
	if a, ok := o["atomic"]; ok {
		atomic, err := a.boolean()
		if err != nil {
			return err
		}
		s.Observe.Torn = !atomic
	}
	if err := s.readFields(o); err != nil {
		return err
	}
	if err := s.readID(o); err != nil {
		return err
	}
	if s.Observe.Asks() && !s.Observe.Role.Given() && !s.Observe.Leader.Given() {
		return v.bad("role: {at: FIELD, leader: VALUE}, or leader: FIELD that names the leader",
			"observe: neither role nor leader is given")
	}
	if l, ok := o["logs"]; ok {
		if err := s.readLogs(l); err != nil {
			return err
		}
	}
	if !s.Observe.Asks() && len(s.Observe.Logs) == 0 {
		return v.bad(observeWays, "observe: nothing tells who leads")
	}
	if l, ok := o["leader"]; ok && !s.Observe.Asks() && !slices.ContainsFunc(s.Observe.Logs, LogLine.tellsLeader) {
		return l.bad("match: 'the leader is (?P<leader>…)' in logs", "leader: no line names one")
	}
	if t, ok := o["term"]; ok && !s.HasTerms() {
		return t.bad("match: 'leads in term (?P<term>…)' in logs", "term: no line tells one")
	}
	return nil
}

// Asks reports whether nodes are asked for their views, not only listened to.
func (o *Observe) Asks() bool { return o.HTTP != nil || len(o.Command) > 0 }

// readSource reads where answers come from.
func (s *Spec) readSource(v value, o map[string]value) (err error) {
	ways := 0
	for _, name := range []string{"http", "metrics"} {
		at, ok := o[name]
		if !ok {
			continue
		}
		ways++
		if s.Observe.HTTP, err = s.endpoint(at, o); err != nil {
			return err
		}
		s.Observe.Metrics = name == "metrics"
	}
	if c, ok := o["command"]; ok {
		ways++
		if s.Observe.Command, err = s.command(c); err != nil {
			return err
		}
	}
	if s.Observe.HTTP == nil {
		if err := onlyWithHTTP(o, "observe"); err != nil {
			return err
		}
		if p, ok := o["port"]; ok {
			return p.bad("leave it out", "observe: port goes with http or metrics")
		}
	}
	if ways > 1 {
		return v.bad(observeWays, "observe: more than one of http, metrics and command is given")
	}
	if m, ok := o["match"]; ok && ways == 0 {
		return m.bad("match within a line of logs; or http, metrics or command, whose answer it takes apart", "observe: match is of answers, and nothing is asked")
	}
	return nil
}

// nobodyWords are what stands for no leader, where the file does not say what does.
var nobodyWords = []string{"", "0", "-1", "none", "null", "nil"}

// MeansNobody reports whether a word stands for no leader, where the file does not say what does.
func MeansNobody(word string) bool { return slices.Contains(nobodyWords, word) }

// readFields reads where role, term and leader stand in an answer, and what their values mean.
func (s *Spec) readFields(o map[string]value) (err error) {
	if err := s.readRole(o); err != nil {
		return err
	}
	if t, ok := o["term"]; ok {
		if err := s.readTerm(t); err != nil {
			return err
		}
	}
	if t, ok := o["tenure"]; ok {
		if s.Observe.Tenure, err = s.field(t, "tenure"); err != nil {
			return err
		}
	}
	s.Observe.Nobody = nobodyWords
	if l, ok := o["leader"]; ok {
		if err := s.readLeader(l); err != nil {
			return err
		}
	}
	return s.takeGroups(o)
}

// readRole reads where the role stands, if it is told, and which words mean which.
func (s *Spec) readRole(o map[string]value) (err error) {
	ob := &s.Observe
	if r, ok := o["role"]; ok {
		at := r
		if r.isMapping() {
			f, err := r.fields("at", "leader", "candidate", "follower")
			if err != nil {
				return err
			}
			if at, ok = f["at"]; !ok {
				if ob.Match == nil {
					return r.bad("at: FIELD, where the answer has it", "role: at is missing")
				}
				at = value{}
			}
			for _, role := range []part[*[]string]{{"leader", &ob.Leads}, {"candidate", &ob.Campaigns}, {"follower", &ob.Follows}} {
				if l, ok := f[role.name]; ok {
					if *role.of, err = l.texts(); err != nil {
						return err
					}
				}
			}
		}
		if ob.Role, err = s.field(at, "role"); err != nil {
			return err
		}
	}
	if len(ob.Leads) == 0 {
		ob.Leads = []string{"leader", "Leader", "LEADER", "true", "1"}
		if len(ob.Follows) == 0 { // who says neither which words lead nor which follow is not taken to mean a word of their own
			ob.Follows = []string{"follower", "Follower", "FOLLOWER", "false", "0"}
		}
	}
	if len(ob.Campaigns) == 0 {
		ob.Campaigns = []string{"candidate", "Candidate", "CANDIDATE"}
	}
	return nil
}

// readLeader reads where the leader stands, and by what names nodes tell who it is.
func (s *Spec) readLeader(l value) (err error) {
	ob, at := &s.Observe, l
	if l.isMapping() {
		f, err := l.fields("at", "nobody", "named", "self", "table")
		if err != nil {
			return err
		}
		ok := false
		if at, ok = f["at"]; !ok {
			if ob.Match == nil && ob.Asks() {
				return l.bad("at: FIELD, where the answer has it", "leader: at is missing")
			}
			at = value{}
		}
		if n, ok := f["nobody"]; ok {
			values, err := n.texts()
			if err != nil {
				return err
			}
			ob.Nobody = append(values, "")
		}
		if n, ok := f["named"]; ok {
			if ob.Identifies, err = s.templates(n); err != nil {
				return err
			}
			if err := s.shared(n); err != nil {
				return err
			}
		}
		if n, ok := f["self"]; ok {
			if ob.Self, err = n.texts(); err != nil {
				return err
			}
		}
		if n, ok := f["table"]; ok {
			if err = s.readTable(n); err != nil {
				return err
			}
		}
	}
	if at.Node != nil || ob.Asks() { // else it says what lines of logs call a node
		ob.Leader, err = s.field(at, "leader")
	}
	return err
}

// takeGroups makes fields of the groups of match that are named as they are.
func (s *Spec) takeGroups(o map[string]value) error {
	ob := &s.Observe
	if ob.Match == nil {
		return nil
	}
	for _, group := range []part[*Field]{{"role", &ob.Role}, {"term", &ob.Term}, {"tenure", &ob.Tenure}, {"leader", &ob.Leader}} {
		has := slices.Contains(ob.Match.SubexpNames(), group.name)
		if group.of.Group == group.name && !has {
			return o[group.name].bad("at: GROUP, or match: '(?P<"+group.name+">…)'", "%s: match has no group %s", group.name, group.name)
		}
		if !group.of.Given() && has {
			group.of.Group = group.name
		}
	}
	return nil
}

// readTerm reads where the term stands, and whether all nodes tell one.
func (s *Spec) readTerm(t value) (err error) {
	at := t
	if t.isMapping() {
		f, err := t.fields("at", "of", "first")
		if err != nil {
			return err
		}
		if of, ok := f["of"]; ok {
			whose, err := of.text()
			if err != nil {
				return err
			}
			if whose != "leader" {
				return of.bad("of: leader, where nobody else tells one; else leave it out", "term: of %q", whose)
			}
			s.Observe.Tokens = true
		}
		if first, ok := f["first"]; ok {
			n, err := first.text()
			if err != nil {
				return err
			}
			if n != "0" || s.Observe.Tokens {
				return first.bad("first: 0, where each node tells a term and a server's terms begin with 0; else leave it out", "term: first is %q", n)
			}
			s.Observe.FromZero = true
		}
		var ok bool
		if at, ok = f["at"]; !ok {
			if s.Observe.Match == nil && s.Observe.Asks() {
				return t.bad("at: FIELD, where the answer has it", "term: at is missing")
			}
			at = value{}
		}
	}
	if at.Node != nil || s.Observe.Asks() { // else it says whose lines of logs tell one
		s.Observe.Term, err = s.field(at, "term")
	}
	return err
}

// field reads where something stands in an answer: a path into JSON, a metric, or a group of match.
func (s *Spec) field(v value, name string) (f Field, err error) {
	ob := &s.Observe
	if v.Node == nil { // with match, the group of its own name
		f.Group = name
		return f, nil
	}
	if !ob.Asks() {
		return f, v.bad("http: /status, metrics: /metrics or command: […]; a line of logs tells it by itself, without a field", "%s: nothing is asked that could answer it", name)
	}
	text, err := v.text()
	if err != nil {
		return f, err
	}
	switch {
	case ob.Metrics:
		f.Metric, err = parseMetric(text)
		if err != nil {
			return f, v.bad(`NAME, NAME{label="value"}, or NAME#label for the value of a label`, "%s: %v", name, err)
		}
	case ob.Match != nil:
		if !slices.Contains(ob.Match.SubexpNames(), text) {
			groups := slices.DeleteFunc(ob.Match.SubexpNames(), func(g string) bool { return g == "" })
			return f, &fault{v.Line, v.Column, hint.Unknown("group of match", text, groups)}
		}
		f.Group = text
	default:
		if f.Path, err = parsePath(text); err != nil && strings.Contains(text, "{{") {
			return f, v.bad(`what is asked is one: http: '/status?shard={{param "shard"}}'; where the server answers for all at once, take a file for each`, "%s: %q is a path, and no template", name, text)
		}
		if err != nil {
			return f, v.bad(`raft.term, members[0].role, ["a.key"].lead`, "%s: %v", name, err)
		}
	}
	return f, nil
}

var logRoles = map[string]election.Role{
	"leader": election.Leader, "candidate": election.Candidate, "follower": election.Follower,
}

// logFields are those of logs, where more is said of them than their lines.
var logFields = []string{"standing", "begins", "lines"}

// readLogs reads the lines by which nodes tell of their changes, and whether what they tell holds until the next.
func (s *Spec) readLogs(v value) error {
	if v.isMapping() && slices.ContainsFunc(v.Content, func(n *yaml.Node) bool { return slices.Contains(logFields, n.Value) }) {
		f, err := v.fields(logFields...)
		if err != nil {
			return err
		}
		lines, ok := f["lines"]
		if !ok {
			return v.bad("logs: {standing: true, lines: [{match: PATTERN, role: leader}]}", "logs: lines is missing")
		}
		if st, ok := f["standing"]; ok {
			if s.Observe.Standing, err = st.boolean(); err != nil {
				return err
			}
			if s.Observe.Standing && s.Observe.Asks() {
				return st.bad("leave standing out", "logs: nodes are asked, so what holds is what they answer")
			}
		}
		if b, ok := f["begins"]; ok {
			if err := s.readBegins(b); err != nil {
				return err
			}
		}
		v = lines
	}
	var at []value
	for _, one := range v.list() {
		l, err := one.fields("match", "role")
		if err != nil {
			return err
		}
		const way = `{match: 'became leader at term (?P<term>[0-9]+)', role: leader}`
		m, ok := l["match"]
		if !ok {
			return one.bad(way, "logs: match is missing")
		}
		var line LogLine
		if line.Match, err = m.pattern(); err != nil {
			return err
		}
		for _, group := range line.Match.SubexpNames() {
			if !slices.Contains([]string{"", "term", "tenure", "leader"}, group) {
				return m.bad(way, "logs: a line tells its term, its tenure and its leader, not %q", group)
			}
		}
		switch r, ok := l["role"]; {
		case ok:
			if line.Role, err = oneOf(r, logRoles); err != nil {
				return err
			}
			line.Named = line.Role == election.Leader && line.tellsLeader()
		case line.tellsLeader():
			line.Named = true
		default:
			return one.bad(way, "logs: role is missing: what is a node that writes this line?")
		}
		s.Observe.Logs = append(s.Observe.Logs, line)
		at = append(at, m)
	}
	if err := s.sameTenures(at); err != nil {
		return err
	}
	return s.sameTerms(at)
}

// readBegins reads what a node is from its process's start until a line tells something else.
func (s *Spec) readBegins(v value) error {
	role, err := oneOf(v, map[string]history.Role{"follower": history.Follower, "candidate": history.Candidate})
	if err != nil {
		return err
	}
	if !s.Observe.Standing {
		return v.bad("logs: {standing: true, begins: follower, lines: […]}", "logs: begins, where no line holds until the next")
	}
	s.Observe.Begins = &history.View{Role: role}
	return nil
}

// sameTerms wants a term in each line that may be of who leads, and of all others where not leaders alone tell one, or in none, as it is with
// answers: a node that tells its term only now and then would be held to have forgotten it.
func (s *Spec) sameTerms(lines []value) error {
	if s.Observe.Asks() && !s.Observe.Term.Given() {
		for i, l := range s.Observe.Logs {
			if l.tellsTerm() {
				return lines[i].bad("observe: {term: FIELD}, or leave (?P<term>…) out", "logs: this line tells a term, and the node's answers tell none")
			}
		}
	}
	if s.HasTerms() {
		if s.Observe.Begins != nil && !s.Observe.Tokens {
			return lines[0].bad("term: {of: leader}, where others' lines need none; or leave begins out, and have a line tell it, with its term", "logs: nodes begin without a line, and so without a term")
		}
		for i, l := range s.Observe.Logs {
			if !l.tellsTerm() && (!s.Observe.Tokens || l.mayLead()) {
				return lines[i].bad("(?P<term>[0-9]+), where the line has it; term: {of: leader}, where those of leaders have it; else leave the term out of all: tenures count then",
					"logs: the election has terms, and this line tells none")
			}
		}
	}
	return nil
}

func (l LogLine) tellsTerm() bool { return l.tells("term") }

// tells reports whether the line has a group of that name.
func (l LogLine) tells(group string) bool { return slices.Contains(l.Match.SubexpNames(), group) }

// mayLead reports whether who writes the line leads, or may by whom it names.
func (l LogLine) mayLead() bool { return l.Named || l.Role == election.Leader }

func (l LogLine) tellsLeader() bool { return l.tells("leader") }

// HasTerms reports whether nodes number their leaderships.
func (s *Spec) HasTerms() bool {
	return s.Observe.Term.Given() || slices.ContainsFunc(s.Observe.Logs, LogLine.tellsTerm)
}

// needTerms are the properties that speak of terms.
var needTerms = []string{"single-leader-per-term", "monotonic-term", "bounded-terms", "fencing"}

// readPromises reads what a violation of fails a run.
func (s *Spec) readPromises(_ value, f map[string]value) error {
	v, ok := f["promises"]
	if !ok {
		return nil
	}
	for _, one := range v.list() {
		p := targets.Promise{}
		at := one
		if one.isMapping() {
			m, err := one.fields("property", "while", "unless", "suspended")
			if err != nil {
				return err
			}
			if at, ok = m["property"]; !ok {
				return one.bad("{property: elects, while: a majority is connected}", "promises: property is missing")
			}
			if w, ok := m["while"]; ok {
				if p.While, err = w.text(); err != nil {
					return err
				}
			}
			for _, field := range []string{"unless", "suspended"} {
				faults, ok := m[field]
				if !ok {
					continue
				}
				if p.While == "" {
					return one.bad("while: no clock is wrong by a tenth, which reports show beside it", "promises: %s stands without while, that says what the promise rests on", field)
				}
				takes, err := readTakesAway(field, faults, s.ownFaults())
				if err != nil {
					return err
				}
				if field == "unless" {
					p.Unless = takes
				} else {
					p.Suspended = takes
				}
			}
		}
		var err error
		if p.Property, err = knownProperty(at); err != nil {
			return err
		}
		if slices.Contains(needTerms, p.Property) && !s.HasTerms() && (p.Property != "fencing" || s.Writes.Log == nil) {
			return at.bad("observe: {term: FIELD}; without terms exclusive-leadership says that two never lead at once",
				"promises: %s speaks of terms, and no term is observed", p.Property)
		}
		if err := s.alarmed(at, p.Property); err != nil {
			return err
		}
		if slices.ContainsFunc(s.Promises, func(before targets.Promise) bool { return before.Property == p.Property }) {
			return at.bad("leave one", "promises: %s is given twice", p.Property)
		}
		s.Promises = append(s.Promises, p)
	}
	return nil
}

func knownProperty(v value) (string, error) {
	text, err := v.text()
	if err != nil {
		return "", err
	}
	var known []string
	for _, c := range checkers.All() {
		known = append(known, c.Property)
	}
	if !slices.Contains(known, text) {
		return "", &fault{v.Line, v.Column, hint.Unknown("property", text, known)}
	}
	return text, nil
}

// group returns what a named group of a match holds, without the space around it: of groups of one name, as alternatives may have, that
// which took part.
func group(re *regexp.Regexp, match []string, name string) string {
	for i, called := range re.SubexpNames() {
		if text := strings.TrimSpace(match[i]); called == name && text != "" {
			return text
		}
	}
	return ""
}
