package checkers

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"recount/history"
)

// parseHistory reads the notation that testdata/README.md describes.
func parseHistory(text string) (*history.History, error) {
	p := &notation{setup: &history.Setup{Version: "test", Target: "test", Cluster: "sim"}, ids: map[string]int{}, process: 1000}
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if words := strings.Fields(line); len(words) > 0 {
			if err := p.line(words); err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
		}
	}
	slices.SortStableFunc(p.ops, func(a, b history.Op) int { return int(a.Time - b.Time) })
	if !p.without {
		begin := history.Op{Process: history.Harness, Type: history.OK, F: history.Begin, Setup: p.setup}
		p.ops = slices.Insert(p.ops, 0, begin)
	}
	for i := range p.ops {
		p.ops[i].Index = i
	}
	return history.New(p.ops)
}

type notation struct {
	setup   *history.Setup
	without bool
	ops     []history.Op
	process history.Process // of the last op: each op has its own, but those of numbered clients
	ids     map[string]int  // of faults by name and nodes
}

func (p *notation) line(words []string) error {
	switch words[0] {
	case "nodes":
		p.setup.Nodes = words[1:]
		return nil
	case "servers":
		p.setup.Servers = words[1:]
		p.setup.Nodes = append(p.setup.Nodes, words[1:]...)
		return nil
	case "peers":
		p.setup.Peers = true
		return nil
	case "voters":
		p.setup.Voting = words[1:]
		return nil
	case "store":
		p.setup.Store = words[1]
		return nil
	case "bounds":
		bounds := &p.setup.Bounds
		b := map[string]*time.Duration{"lag": &p.setup.Lag, "silence": &bounds.Silence, "elect": &bounds.Elect, "poll": &bounds.Poll}
		for _, w := range words[1:] {
			name, value, _ := strings.Cut(w, "=")
			if n, err := strconv.Atoi(value); err == nil {
				switch name {
				case "moves":
					bounds.Moves = n
				case "returns":
					bounds.Returns = n
				case "terms":
					bounds.Terms = uint64(n)
				default:
					return fmt.Errorf("no bound: %q", w)
				}
				continue
			}
			d, err := time.ParseDuration(value)
			if b[name] == nil || err != nil {
				return fmt.Errorf("no bound: %q", w)
			}
			*b[name] = d
		}
		return nil
	case "flags":
		for _, w := range words[1:] {
			switch w {
			case "no-terms":
				p.setup.NoTerms = true
			case "standing":
				p.setup.Standing = true
			case "tokens":
				p.setup.Tokens = true
			case "alarms":
				p.setup.Alarms = true
			case "recording":
				p.setup.Recorded = true
			case "one-count":
				p.setup.OneCount = true
			case "untimed":
				p.setup.Untimed = true
			case "lock":
				p.setup.Lock = true
			case "nowhere":
				p.setup.Cluster = ""
			case "no-setup":
				p.without = true
			default:
				return fmt.Errorf("no flag: %q", w)
			}
		}
		return nil
	}
	times, err := parseTimes(words[0])
	if err != nil {
		return err
	}
	for _, t := range times {
		if err := p.happens(t, words[1:]); err != nil {
			return err
		}
	}
	return nil
}

// parseTimes reads "1s", "1s-1.1s", "1s..2s/50ms" and "1s..2s/50ms+1ms".
func parseTimes(w string) (times []span, err error) {
	parse := func(s string) (d time.Duration) {
		if err == nil {
			d, err = time.ParseDuration(s)
		}
		return d
	}
	if from, rest, repeated := strings.Cut(w, ".."); repeated {
		to, every, _ := strings.Cut(rest, "/")
		every, length, _ := strings.Cut(every, "+")
		begin, end, step, took := parse(from), parse(to), parse(every), parse(cmp.Or(length, "0s"))
		for t := begin; err == nil && t < end; t += step {
			times = append(times, span{t, t + took})
		}
		return times, err
	}
	from, to, long := strings.Cut(w, "-")
	if !long {
		to = from
	}
	return []span{{parse(from), parse(to)}}, err
}

func (p *notation) happens(t span, words []string) error {
	switch words[0] {
	case "end":
		p.ops = append(p.ops, history.Op{Time: t.from, Process: history.Harness, Type: history.OK, F: history.End})
		return nil
	case "stall":
		d, err := time.ParseDuration(words[1])
		op := history.Op{Time: t.from, Process: history.Harness, Type: history.Info, F: history.Stall}
		op.Access.Value = int64(d)
		p.ops = append(p.ops, op)
		return err
	case "differs":
		p.ops = append(p.ops, history.Op{Time: t.from, Process: history.Harness, Type: history.Fail, F: history.Compare, Error: strings.Join(words[1:], " ")})
		return nil
	case "matches":
		p.ops = append(p.ops, history.Op{Time: t.from, Process: history.Harness, Type: history.OK, F: history.Compare})
		return nil
	case "nemesis":
		return p.nemesis(t, words[1:])
	}
	var who []string
	for len(words) > 0 && (slices.Contains(p.setup.Nodes, words[0]) || words[0] == "client" || words[0] == "stranger" || clientNumber(words[0]) > 0) {
		who, words = append(who, words[0]), words[1:]
	}
	if len(who) == 0 || len(words) == 0 {
		return fmt.Errorf("nobody, or nothing: %q", words)
	}
	for _, n := range who {
		if err := p.does(t, n, words); err != nil {
			return err
		}
	}
	return nil
}

// does adds what one node or client does.
func (p *notation) does(t span, who string, words []string) error {
	p.process++
	op := history.Op{Process: p.process, Node: who, F: history.Observe, Type: history.OK}
	if n := clientNumber(who); who == "client" || n > 0 {
		op.Node = ""
		if n > 0 {
			op.Process = n
		}
	}
	switch words[0] {
	case "write", "read":
		return p.access(t, op, words)
	case "get", "put", "cas", "acquire", "release":
		return p.register(t, op, words)
	case "applies":
		u := &history.Update{}
		_, err := fmt.Sscanf(strings.Join(words[1:], " "), "%d %d", &u.Term, &u.Counter)
		if len(words) == 5 && words[3] == "of" {
			u.From = words[4]
		}
		op.F, op.Time, op.Value = history.Apply, t.from, u
		p.ops = append(p.ops, op)
		return err
	case "votes":
		term, err := strconv.ParseUint(words[1], 10, 64)
		op.F, op.Time, op.Vote = history.Granted, t.from, history.Vote{Term: term, For: words[2]}
		p.ops = append(p.ops, op)
		return err
	case "resigns":
		op.F = history.Resign
		switch outcome := strings.Join(words[1:], " "); outcome {
		case "":
		case "refused":
			op.Type = history.Fail
		case "unknown":
			op.Type = history.Info
		case "unended":
			p.add(t, op)
			p.ops = p.ops[:len(p.ops)-1]
			return nil
		default:
			return fmt.Errorf("no outcome: %q", outcome)
		}
	case "knocks":
		op.F, op.Node, op.Type = history.Reconfigure, p.setup.Nodes[0], history.Fail
		op.Value = &history.Member{Node: who, As: history.Voter}
	case "exits":
		op.Process, op.F, op.Type, op.Time = history.Harness, history.Exit, history.Info, t.from
		if how := strings.Join(words[1:], " "); how == "trapped" {
			op.Fault = &history.Fault{Name: "crash-within", Nodes: []string{who}}
			op.Fault.Procs = []history.Proc{{Node: who, State: history.Crashed}}
		} else {
			op.Error = how
		}
		p.ops = append(p.ops, op)
		return nil
	case "alarms":
		op.Process, op.F, op.Type, op.Time, op.Error = history.Harness, history.Alarm, history.Info, t.from, strings.Join(words[1:], " ")
		p.ops = append(p.ops, op)
		return nil
	case "waits":
		d, err := time.ParseDuration(words[1])
		op.Process, op.F, op.Time, op.Reading = history.Harness, history.ReadClock, t.from, history.Reading{Waits: d}
		p.ops = append(p.ops, op)
		return err
	case "unended":
		p.add(t, op)
		p.ops = p.ops[:len(p.ops)-1]
		return nil
	case "silent":
		op.Type = history.Info
	case "refuses":
		op.Type = history.Fail
	case "announces":
		op.F, op.Time = history.Announce, t.from
		err := parseView(words[1:], &op.View)
		p.ops = append(p.ops, op)
		return err
	default:
		if err := parseView(words, &op.View); err != nil {
			return err
		}
	}
	p.add(t, op)
	return nil
}

// add adds the invoke and the end of an op.
func (p *notation) add(t span, end history.Op) {
	invoke := end
	invoke.Time, invoke.Type, invoke.View = t.from, history.Invoke, history.View{}
	end.Time = t.to
	p.ops = append(p.ops, invoke, end)
}

func parseView(words []string, v *history.View) error {
	if err := v.Role.UnmarshalText([]byte(words[0])); err != nil {
		return err
	}
	for words = words[1:]; len(words) > 0; words = words[1:] {
		var err error
		switch w := words[0]; {
		case w == "torn":
			v.Torn = true
		case w == "of" && len(words) > 1:
			v.Leader, words = words[1], words[1:]
		case w == "tenure" && len(words) > 1:
			v.Tenure, err = strconv.ParseUint(words[1], 10, 64)
			words = words[1:]
		default:
			v.Term, err = strconv.ParseUint(w, 10, 64)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *notation) access(t span, op history.Op, words []string) error {
	op.F = history.F(words[0])
	words = words[1:]
	if len(words) >= 2 {
		token, err1 := strconv.ParseUint(words[0], 10, 64)
		value, err2 := strconv.ParseInt(words[1], 10, 64)
		if err1 != nil || err2 != nil {
			return fmt.Errorf("no token and value: %q", words)
		}
		op.Access, words = history.Access{Token: token, Value: value}, words[2:]
	}
	outcome := strings.Join(words, " ")
	switch outcome {
	case "":
	case "rejected", "failed":
		op.Type = history.Fail
	case "unknown", "unended":
		op.Type = history.Info
	default:
		return fmt.Errorf("no outcome: %q", outcome)
	}
	p.add(t, op)
	if op.F == history.Read {
		p.ops[len(p.ops)-2].Access = history.Access{}
	}
	if outcome == "unended" {
		p.ops = p.ops[:len(p.ops)-1]
	}
	return nil
}

// clientNumber is that of a numbered client: 3 of "c3".
func clientNumber(who string) history.Process {
	n, err := strconv.ParseInt(strings.TrimPrefix(who, "c"), 10, 16)
	if err != nil || !strings.HasPrefix(who, "c") {
		return 0
	}
	return history.Process(n)
}

// register adds what "put 3 revision 7 key x", "get", "cas 1 2 unknown", "cas nothing 2" say.
func (p *notation) register(t span, op history.Op, words []string) error {
	op.F, op.Reg = history.F(words[0]), &history.Register{}
	var values []string
	outcome := ""
	for words = words[1:]; len(words) > 0; words = words[1:] {
		var err error
		switch w := words[0]; {
		case w == "key" && len(words) > 1:
			op.Reg.Key, words = words[1], words[1:]
		case w == "revision" && len(words) > 1:
			op.Reg.Revision, err = strconv.ParseUint(words[1], 10, 64)
			words = words[1:]
		case w == "failed":
			op.Type, outcome = history.Fail, w
		case w == "unknown", w == "unended":
			op.Type, outcome = history.Info, w
		case w == "at" && len(words) > 1:
			op.Node, words = words[1], words[1:]
		case w == "nothing":
			values = append(values, "")
		default:
			values = append(values, w)
		}
		if err != nil {
			return err
		}
	}
	want := map[history.F]int{history.Put: 1, history.CAS: 2}[op.F]
	if op.F == history.Get {
		want = min(len(values), 1) // nothing is what an empty register holds
	}
	if len(values) != want {
		return fmt.Errorf("%s takes %d values: %q", op.F, want, values)
	}
	switch want {
	case 1:
		op.Reg.Value = values[0]
	case 2:
		op.Reg.Old, op.Reg.Value = values[0], values[1]
	}
	p.add(t, op)
	invoke := &p.ops[len(p.ops)-2]
	if invoke.Reg = (&history.Register{Key: op.Reg.Key, Value: op.Reg.Value, Old: op.Reg.Old}); op.F == history.Get {
		invoke.Reg.Value = ""
	}
	if outcome == "unended" {
		p.ops = p.ops[:len(p.ops)-1]
	}
	return nil
}

// nemesis adds what "inject isolate n3: cut n1-n3, cut n2-n3; unseen" says.
func (p *notation) nemesis(t span, words []string) error {
	text, outcome, _ := strings.Cut(strings.Join(words, " "), ";")
	head, changes, _ := strings.Cut(text, ":")
	verb, name, _ := strings.Cut(head, " ")
	if p.ids[name] == 0 {
		p.ids[name] = len(p.ids) + 1
	}
	parts := strings.Fields(name)
	f := &history.Fault{ID: p.ids[name], Name: parts[0], Nodes: parts[1:]}
	if err := parseChanges(changes, &f.Changes); err != nil {
		return err
	}
	p.add(t, history.Op{Process: history.Nemesis, Type: history.OK, F: history.F(verb), Fault: f})
	end := &p.ops[len(p.ops)-1]
	outcome, rest, _ := strings.Cut(strings.TrimSpace(outcome), " ")
	switch outcome {
	case "":
	case "unended":
		p.ops = p.ops[:len(p.ops)-1]
	case "failed":
		end.Type = history.Fail
	case "nobody":
		f.Asked, f.Nodes = f.Nodes, nil
		end.Type, end.Error = history.Fail, fmt.Sprintf("no node to be %q", f.Asked[0])
	case "unseen":
		end.Type = history.Info
	case "idle":
		f.Idle = "what it waited for never came"
	case "untold":
		end.Fault = nil
	case "only":
		end.Fault = &history.Fault{ID: f.ID, Name: f.Name, Nodes: f.Nodes}
		return parseChanges(rest, &end.Fault.Changes)
	default:
		return fmt.Errorf("no outcome: %q", outcome)
	}
	return nil
}

func parseChanges(text string, c *history.Changes) error {
	for _, words := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
		if err := parseChange(strings.Fields(words), c); err != nil {
			return err
		}
	}
	return nil
}

func parseChange(words []string, c *history.Changes) error {
	if len(words) != 2 {
		return fmt.Errorf("no change: %q", words)
	}
	links := map[string]history.LinkState{"cut": {Cut: true}, "slow": {Delay: 4 * time.Millisecond, Jitter: 2 * time.Millisecond}, "join": {},
		"keep": {Delay: time.Second, Jitter: time.Second}, "choke": {Rate: 1000}}
	procs := map[string]history.ProcState{
		"kill": history.Down, "crash": history.Crashed, "start": history.Up, "pause": history.Paused, "resume": history.Up,
		"stop": history.Stopped, "freeze": history.Frozen,
	}
	clocks := map[string]history.Clock{"skew": {Drift: 0.1}, "shift": {Offset: time.Minute}, "right": {}}
	disks := map[string]history.DiskState{"fill": {Full: true}, "brake": {Slow: time.Second}, "scatter": {Scattered: true}, "mend": {}}
	what, whom := words[0], words[1]
	if what == "ask" || what == "spare" {
		c.More = history.More{history.HandOvers: {history.HandOver{Node: whom, ID: 1, Asked: what == "ask"}}}
		return nil
	}
	if state, ok := links[what]; ok {
		a, b, both := strings.Cut(whom, "-")
		if !both {
			a, b, _ = strings.Cut(whom, ">")
		}
		b, port, single := strings.Cut(b, ":")
		l := history.Link{From: a, To: b, LinkState: state}
		if single {
			var err error
			if l.Port, err = strconv.Atoi(port); err != nil {
				return err
			}
		}
		c.Links = append(c.Links, l)
		if both {
			l.From, l.To = b, a
			c.Links = append(c.Links, l)
		}
		return nil
	}
	if state, ok := procs[what]; ok {
		c.Procs = append(c.Procs, history.Proc{Node: whom, State: state})
		return nil
	}
	if clock, ok := clocks[what]; ok {
		clock.Node = whom
		c.Clocks = append(c.Clocks, clock)
		return nil
	}
	if state, ok := disks[what]; ok {
		c.Disks = append(c.Disks, history.Disk{Node: whom, DiskState: state})
		return nil
	}
	if state, ok := map[string]history.ProcState{"hang": history.Paused, "wake": history.Up}[what]; ok {
		node, process, _ := strings.Cut(whom, "/")
		*c = history.ChangesOf(append(c.States(), history.Part{Node: node, Process: process, State: state})...)
		return nil
	}
	if on, ok := map[string]bool{"afflict": true, "ease": false}[what]; ok {
		*c = history.ChangesOf(append(c.States(), history.Own{Node: whom, Fault: "stuck", On: on})...)
		return nil
	}
	if share, ok := map[string]float64{"throttle": 0.05, "free": 0}[what]; ok {
		*c = history.ChangesOf(append(c.States(), history.CPU{Node: whom, Share: share})...)
		return nil
	}
	if bytes, ok := map[string]int64{"squeeze": 1 << 20, "relieve": 0}[what]; ok {
		*c = history.ChangesOf(append(c.States(), history.Memory{Node: whom, Bytes: bytes})...)
		return nil
	}
	if as, ok := map[string]history.Membership{"remove": history.Removed, "learner": history.Learner, "voter": history.Voter}[what]; ok {
		*c = history.ChangesOf(append(c.States(), history.Member{Node: whom, As: as})...)
		return nil
	}
	if cut := what == "hide"; cut || what == "show" {
		c.Clients = append(c.Clients, history.Client{Node: whom, Cut: cut})
		return nil
	}
	return fmt.Errorf("no change: %q", words)
}

// tell writes an op in the notation, as far as a person needs it.
func tell(op *history.Op) string {
	s := fmt.Sprintf("op %d  %v", op.Index, op.Time)
	if op.Node != "" {
		s += " " + op.Node
	}
	switch op.F {
	case history.Announce:
		s += " announces " + tellView(op.View)
	case history.Observe:
		s += " " + tellView(op.View)
	case history.Granted:
		s += fmt.Sprintf(" votes %d %s", op.Vote.Term, op.Vote.For)
	case history.Write, history.Read:
		s += fmt.Sprintf(" %s %d %d %v", op.F, op.Access.Token, op.Access.Value, op.Type)
	case history.Get, history.Put, history.CAS, history.Acquire, history.Release:
		s += fmt.Sprintf(" process %v %s", op.Process, op.F)
		if r := op.Reg; r != nil {
			s += strings.TrimRight(" "+strings.TrimSpace(r.Old+" "+r.Value), " ")
			if r.Revision > 0 {
				s += fmt.Sprintf(" revision %d", r.Revision)
			}
			if r.Key != "" {
				s += " key " + r.Key
			}
		}
		s += fmt.Sprintf(" %v", op.Type)
	case history.Apply:
		s += fmt.Sprintf(" applies %d %d of %s", op.Update().Term, op.Update().Counter, op.Update().From)
	case history.Inject, history.Change, history.Heal:
		s += " nemesis " + string(op.F)
		if op.Fault != nil {
			s += fmt.Sprintf(" %s %s", op.Fault.Name, strings.Join(op.Fault.Nodes, " "))
		}
	}
	return strings.TrimSpace(s)
}

func tellView(v history.View) string {
	s := fmt.Sprintf("%v %d", v.Role, v.Term)
	if v.Tenure > 0 {
		s += fmt.Sprintf(" tenure %d", v.Tenure)
	}
	if v.Leader != "" {
		s += " of " + v.Leader
	}
	return s
}
