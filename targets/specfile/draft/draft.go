// Package draft writes a spec file to begin with from what a server answers: which of its fields tell who leads is guessed by their
// names and their values. What no answer tells is left to be changed by hand.
package draft

import (
	_ "embed" // the template
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"recount/internal/hint"
	"recount/internal/term"
	"recount/targets/specfile"
)

// Answer is what a node said when it was asked who leads.
type Answer struct {
	From   string   // a file, or what URL says
	URL    *url.URL // that was asked; nil where the answer is from a file
	Status int      // of HTTP; 0 likewise
	Text   []byte
}

// Draft is a spec file to begin with, and what in it was read out of answers.
type Draft struct {
	Text  []byte
	Found []Found
}

// Found is a field of observe.
type Found struct {
	Name   string // role, term, leader or id
	Field  string // where an answer has it
	Values string // in the answers, for people
}

//go:embed draft.yaml
var text string

var file = template.Must(template.New("draft").Parse(text))

// page is what the file is made of.
type page struct {
	File, From string
	Port       int
	Asked      bool   // a server, so that its port and its path are known
	Way, Path  string // http: or metrics:
	TLS        bool
	Status     string
	Match      string
	Lines      []line
	Terms      bool

	Answers      bool // nodes are asked
	Logs         []Line
	Standing     bool
	LeadersTerms bool
}

// line is one of observe, and why it says so.
type line struct{ Says, Why string }

// New drafts a spec file of that name by answers of one node or of several, which are all of one kind, and by what nodes wrote into their
// logs. An error says which of them cannot be read, or that none tells who leads.
func New(name string, answers []Answer) (*Draft, error) {
	p := page{File: name, Port: 8080, Path: "/status", Way: "http"}
	p.asked(answers)
	var asked []Answer
	var logs []Log
	for _, a := range answers {
		if text := string(a.Text); isLog(text) {
			logs = append(logs, Log{Lines: slices.Collect(strings.Lines(text))})
		} else {
			asked = append(asked, a)
		}
	}
	d := &Draft{}
	if len(asked) > 0 {
		if err := p.read(asked, d); err != nil {
			return nil, err
		}
	}
	p.hear(logs, d)
	if len(d.Found) == 0 {
		err := fmt.Errorf("no line in %s is known to tell that a node leads", p.From)
		return nil, hint.Add(err, "give the log of a node that has led; the lines that tell it may be written into logs by hand: recount init FILE has every field explained")
	}
	var b strings.Builder
	if err := file.Execute(&b, p); err != nil {
		return nil, err
	}
	d.Text = []byte(b.String())
	if _, err := specfile.Parse(name, d.Text); err != nil {
		return nil, fmt.Errorf("what was drafted is no spec file: %w", err)
	}
	return d, nil
}

// read says how nodes are asked, by their answers.
func (p *page) read(answers []Answer, d *Draft) error {
	var form form
	var leaves [][]leaf
	for i, a := range answers {
		as, some, err := leavesOf(a.Text)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", a.From, err)
		case i > 0 && as != form:
			return hint.Add(fmt.Errorf("%s is %v, and %s is %v", answers[0].From, form, a.From, as), "give answers to one question, by one node or by several")
		}
		form, leaves = as, append(leaves, some)
	}
	g := guessed(leaves)
	if form == inText {
		g.keepWhatAllTell()
	}
	if g.role == nil && g.leader == nil {
		return untold(answers, leaves)
	}
	p.Answers, p.Terms = true, g.term != nil
	switch {
	case form == inMetrics && !p.Asked:
		p.Way, p.Path = "metrics", "/metrics"
	case form == inMetrics:
		p.Way = "metrics"
	case form == inText:
		p.Match = g.match()
	}
	p.Lines, d.Found = g.lines(form)
	return nil
}

// hear says which lines of logs tell of a change. Where nodes are asked, too, they tell terms if answers do.
func (p *page) hear(logs []Log, d *Draft) {
	ways := []Terms{AllTerms, LeadersTerms, NoTerms}
	if p.Answers {
		ways = map[bool][]Terms{true: {AllTerms}, false: {NoTerms}}[p.Terms]
	}
	for _, terms := range ways {
		lines := Lines(logs, terms)
		p.Standing = !p.Answers && slices.ContainsFunc(lines, func(l Line) bool { return l.Role == "follower" })
		if terms == NoTerms || p.Answers || p.Standing {
			p.Logs, p.Terms, p.LeadersTerms = lines, p.Terms || terms != NoTerms && len(lines) > 0, terms == LeadersTerms
			break
		}
	}
	for _, l := range p.Logs {
		d.Found = append(d.Found, Found{"logs", l.Role, l.Match})
	}
}

func (f form) String() string {
	return [...]string{inJSON: "JSON", inMetrics: "metrics", inText: "text"}[f]
}

// untold says that nothing in the answers tells who leads, and what is there.
func untold(answers []Answer, leaves [][]leaf) error {
	var from, fields, listed []string
	add := func(to *[]string, l leaf) {
		if field := term.Clip(l.field, 60); !slices.Contains(*to, field) && printable(field) {
			*to = append(*to, field)
		}
	}
	for i, a := range answers {
		from = append(from, a.From)
		for _, l := range leaves[i] {
			add(&fields, l)
		}
		if root, err := specfile.ParseJSON(a.Text); err == nil {
			inLists(root, "", func(l leaf) { add(&listed, l) })
		}
	}
	fields = append(fields, listed...)
	err := fmt.Errorf("nothing in %s is known to tell who leads: there is no single value in it", strings.Join(from, ", "))
	if len(fields) > 0 {
		const most = 8
		if more := len(fields) - most; more > 0 {
			fields = append(fields[:most], fmt.Sprintf("%d more", more))
		}
		err = fmt.Errorf("nothing in %s is known to tell who leads: it has %s", strings.Join(from, ", "), strings.Join(fields, ", "))
	}
	if len(listed) > 0 {
		return hint.Add(err, "what stands in a list is of one among several, and nothing is guessed of it: ask where a node tells of itself alone, or name the place that it has in the list, role: %s", listed[0])
	}
	return hint.Add(err, "ask where a node tells its role, or whom it follows; where one of these does under another name, write it into observe by hand: recount init FILE has every field explained")
}

// asked takes over from answers of servers where they were asked.
func (p *page) asked(answers []Answer) {
	var from []string
	statuses := []int{http.StatusOK}
	for _, a := range answers {
		from = append(from, a.From)
		if a.URL == nil {
			continue
		}
		if !p.Asked {
			p.Asked, p.Path, p.TLS, p.Port = true, a.URL.RequestURI(), a.URL.Scheme == "https", portOf(a.URL)
		}
		if a.Status != 0 && !slices.Contains(statuses, a.Status) {
			statuses = append(statuses, a.Status)
		}
	}
	p.From, p.Path = strings.Join(from, ", "), quoted(strings.ReplaceAll(p.Path, "{{", "{{`{{`}}"))
	if len(statuses) > 1 {
		p.Status = strings.ReplaceAll(fmt.Sprint(statuses), " ", ", ")
	}
}

func portOf(u *url.URL) int {
	if port, err := strconv.Atoi(u.Port()); err == nil {
		return port
	}
	return map[string]int{"http": 80, "https": 443}[u.Scheme]
}

// keepWhatAllTell forgets fields that not every answer has: one pattern is to match all.
func (g *guess) keepWhatAllTell() {
	for _, of := range []**told{&g.role, &g.term, &g.leader, &g.id} {
		if t := *of; t != nil && t.own() != "leader" && slices.Contains(t.values, "") {
			*of = nil
		}
	}
}

// field is one that was found, with its name in observe.
type field struct {
	name string
	*told
}

// fields are those that were found.
func (g *guess) fields() []field {
	all := []field{{"role", g.role}, {"term", g.term}, {"leader", g.leader}, {"id", g.id}}
	return slices.DeleteFunc(all, func(f field) bool { return f.told == nil })
}

// words are the values, for people.
func (t *told) words() string {
	var all []string
	for _, v := range t.values {
		all = append(all, strconv.Quote(v))
	}
	if len(slices.Compact(slices.Clone(all))) == 1 {
		all = all[:1]
	}
	return strings.Join(all, ", ")
}

// match is a pattern that finds in a text what was found there.
func (g *guess) match() string {
	fields := g.fields()
	slices.SortFunc(fields, func(a, b field) int { return a.place - b.place })
	var parts []string
	for _, f := range fields {
		values := `[^\s",;]*`
		if f.name == "term" {
			values = `\d+`
		}
		parts = append(parts, f.line+"(?P<"+f.name+">"+values+")")
	}
	return quoted("(?s)" + strings.Join(parts, ".*?"))
}

// lines are what observe says of fields that were found.
func (g *guess) lines(form form) (lines []line, found []Found) {
	for _, f := range g.fields() {
		found = append(found, Found{f.name, f.field, f.words()})
		at := quoted(f.field)
		if form == inText {
			at = ""
		}
		more := ""
		why := "it says " + f.words()
		switch f.name {
		case "role":
			if more = g.words.fields(g.omits(form)); !g.words.sure && len(g.words.leads) > 0 {
				why += "; CHANGE: what does it say of a leader?"
			}
		case "term":
			if g.leadersAlone() {
				more = "of: leader"
			}
		case "leader":
			if g.pattern != "" {
				more = "named: " + quoted(g.pattern)
			} else if g.id == nil && slices.ContainsFunc(g.leader.values, isUnclear) {
				why += "; CHANGE: whom it means is not known: {at: …, named: 'node-{{.ID}}'}, {at: …, table: {alpha: n1}}, or id: FIELD of what a node calls itself"
			}
		}
		says := f.name + ": "
		switch {
		case at == "" && more == "":
			continue // the group of its name says it all
		case at == "":
			says += "{" + more + "}"
		case more == "":
			says += at
		default:
			says += "{at: " + at + ", " + more + "}"
		}
		lines = append(lines, line{says, why})
	}
	return lines, found
}

// leadersAlone reports whether leaders tell a term, and others were seen to tell none.
func (g *guess) leadersAlone() bool {
	if g.role == nil {
		return false
	}
	none := func(v string) bool { return v == "" || v == "0" }
	some := false
	for i, v := range g.term.values {
		of, _ := roleOf(g.role.values[i])
		if led := of == leads || g.role.values[i] == "true" || g.role.values[i] == "1"; led == none(v) {
			return false
		}
		some = some || none(v)
	}
	return some && slices.ContainsFunc(g.term.values, func(v string) bool { return !none(v) })
}

// usual are the words that mean what they say where a file says nothing of them.
var usual = regexp.MustCompile(`^(leader|Leader|LEADER|follower|Follower|FOLLOWER|candidate|Candidate|CANDIDATE|true|false|0|1)$`)

// omits are the words of followers where one of them may be missing from an answer: what is missing is a word of nobody's by itself.
// Metrics and text have no such form.
func (g *guess) omits(form form) (follow []string) {
	if form != inJSON || !g.words.omitted {
		return nil
	}
	for _, v := range g.role.values {
		of, known := roleOf(v)
		if leads := v == "true" || v == "1"; !leads && (!known || of == follows) && !slices.Contains(follow, v) {
			follow = append(follow, v)
		}
	}
	return follow
}

// fields are the words for roles, as role has them, with all of followers where those are given; "" where they are the usual ones.
func (w roleWords) fields(follow []string) string {
	words := slices.Concat(w.leads, w.campaigns, w.follows)
	if len(follow) == 0 && w.whole && !slices.ContainsFunc(words, func(word string) bool { return !usual.MatchString(word) }) {
		return ""
	}
	var parts []string
	for _, p := range []struct {
		name  string
		words []string
	}{{"leader", w.leads}, {"candidate", w.campaigns}, {"follower", follow}} { // without follower, all other words are theirs
		if len(p.words) > 0 {
			parts = append(parts, p.name+": "+listed(p.words))
		}
	}
	return strings.Join(parts, ", ")
}

func listed(words []string) string {
	var all []string
	for _, w := range words {
		all = append(all, quoted(w))
	}
	if len(all) == 1 {
		return all[0]
	}
	return "[" + strings.Join(all, ", ") + "]"
}

var plain = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9_./-]*$`)

// quoted is a text as YAML has it.
func quoted(s string) string {
	if plain.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}
