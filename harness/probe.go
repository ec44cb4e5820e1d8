package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"recount/election"
	"recount/harness/record"
	"recount/history"
	"recount/internal/count"
	"recount/internal/hint"
	"recount/targets/specfile"
	"recount/workloads"
)

// Probe is what a few nodes of a real system let Recount see, with the servers that they elect through.
type Probe struct {
	Nodes   []string      // their names
	Image   string        // that the first runs
	Args    []string      // that its image's entry point is given
	Ready   time.Duration // from the start until all were ready
	Watched time.Duration // from then on
	Views   []ProbeView   // each that differs from the one before of its node, in order
	Asked   int
	Failed  int                       // of the questions
	Why     error                     // why the last of these got no answer
	Mute    map[string]error          // of whom there was no answer, and why there was none the last time
	Unread  int                       // of those that failed, the ones that were answered by what makes no sense
	Strange error                     // what was wrong with the last of these
	Slow    time.Duration             // the slowest answer took
	Late    int                       // of the answers, those that observers would have given up
	Sooner  string                    // how such are waited for; "" if there are none
	Answer  []byte                    // the last of the first that led, or of n1, as it was given, where its observer keeps it
	Roles   map[string]map[string]int // the words that nodes said of their roles, and how often, where a file says how they are read
	Names   bool                      // they name whom they follow
	Led     bool                      // one of them led
	Told    int                       // changes that they announced by themselves
	Tried   bool                      // the leader was seen to write once, where it does by a command
	Wrote   error                     // why nobody knows that its write was accepted; nil if it was
	Kept    bool                      // the leader was seen to keep a number, where clients can have it do so
	Keeps   error                     // why nobody knows that it does; nil if it does
	Apart   error                     // why faults cannot be of each of the parts of the first node that a file names; nil if they can
	Log     [][]string                // what each node wrote, in lines
	Logs    string                    // the folder that has what all wrote
	Answers string                    // a pattern of the files there that have what each answered last, whole; "" if none did
	Lines   string                    // what of their logs could not be read; "" if all could
	Alarm   string                    // the first line of a log that was an alarm, after its node's name; "" if none was
	untold  untold
	servers []string // of the nodes: nobody wants to hear of these who leads
}

// ProbeView is a node's view, when it was first seen, and whether the node announced it by itself.
type ProbeView struct {
	At   time.Duration
	Node string
	View history.View
	Told bool
}

// Try starts a few nodes of a real system, in containers or in virtual time, and asks them for their views until one has led for a while, or for as long as
// the target may take to elect. They are gone when it returns; what they wrote is in a folder below cfg.Results. An error says
// that one did not come up; what was seen until then is returned with it.
func Try(ctx context.Context, plan record.Plan, cfg Config) (p *Probe, err error) {
	s, err := triable(plan)
	if err != nil {
		return nil, Usage(err)
	}
	cfg = cfg.heard(ctx)
	dir, err := makeFolder(cfg.Results, "validate")
	if err != nil {
		return nil, err
	}
	c, err := openTrial(ctx, s, dir, cfg)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		err = errors.Join(err, c.SaveLogs(end, p.Logs), p.saveAnswers(c))
		if err != nil && c.gone() != "" && !explains(err) {
			err = hint.Add(err, "all that it wrote lies in %s", p.Logs)
		}
		for _, node := range p.Nodes {
			text, _ := os.ReadFile(filepath.Join(p.Logs, node+".log")) // there is none of a node that was never made
			p.Log = append(p.Log, slices.Collect(strings.Lines(strings.TrimSpace(string(text)))))
		}
		err = errors.Join(err, c.Close(end))
	}()
	p = &Probe{Nodes: s.names, servers: s.servers, Names: !s.target.NoLeaderNames, Mute: map[string]error{}, Roles: map[string]map[string]int{}, Logs: filepath.Join(dir, record.NodeLogs)}
	p.Image, p.Args = c.first()
	return p, p.watch(ctx, c, s, cfg.Progress)
}

// saveAnswers writes what each node answered last, whole, beside its log: what is shown of it is its beginning.
func (p *Probe) saveAnswers(c trial) error {
	var errs []error
	for _, node := range p.Nodes {
		if a, ok := c.node(node).(*systemNode); ok {
			if keeps, ok := a.Observer.(election.Quoter); ok && len(keeps.Answer()) > 0 {
				p.Answers = filepath.Join(p.Logs, "*.answer")
				errs = append(errs, os.WriteFile(filepath.Join(p.Logs, node+".answer"), keeps.Answer(), 0o644))
			}
		}
	}
	return errors.Join(errs...)
}

// CheckTrial finds what is wrong with what Try is to start, without starting it.
func CheckTrial(plan record.Plan) error {
	_, err := triable(plan)
	return Usage(err)
}

// triable is what Try starts.
func triable(plan record.Plan) (*subject, error) {
	s, system, err := lookUp(plan)
	if err != nil {
		return nil, err
	}
	if err := s.name(); err != nil {
		return nil, err
	}
	if s.On == record.OnVirtual {
		if err := s.runsVirtual(); err != nil {
			return nil, err
		}
	}
	if err := s.fitting(system); err != nil {
		return nil, err
	}
	return s, there(system)
}

// tellWatch is how often is told how long is watched.
const tellWatch = 5 * time.Second

// watch starts the nodes and looks at them.
func (p *Probe) watch(ctx context.Context, c trial, s *subject, say func(string)) error {
	c.OnExit(func(string, int) {})
	c.OnAlarm(func(node, line string) { p.Alarm = cmp.Or(p.Alarm, node+"  "+strings.TrimSpace(line)) })
	c.OnStall(func(time.Duration) {})
	c.OnGranted(func(string, history.Vote) {})
	c.OnApplied(func(string, history.Update) {})
	c.OnAnnounce(func(node string, v history.View) {
		p.Told++
		p.see(c.Now(), node, v, true)
	})
	defer func() { p.Lines = c.Unread() }()
	began := c.Now()
	if err := c.Start(ctx); err != nil {
		return err
	}
	p.Ready = c.Now() - began
	b, members := s.bounds, s.members(func(string) netip.Addr { return netip.Addr{} })
	led, leader := time.Duration(0), "n1"
	waits := func() bool {
		silent, due := p.Silent()
		return led < max(2*b.Silence, time.Second) || due && len(silent) > 0 || len(p.Strangers()) > 0
	}
	began = c.Now()
	next := began + tellWatch
	for end := began + b.Elect + 2*b.Silence; c.Now() < end && waits(); {
		before := c.Now()
		if before >= next {
			next += tellWatch
			say(fmt.Sprintf("watching %s: %v of %v at most", count.Of(len(p.Nodes), "node"), (before - began).Round(time.Second), end-began))
		}
		if err := c.Run(ctx, c.Now()+b.Poll); err != nil {
			return err
		}
		if how := c.gone(); how != "" {
			return errors.New(how + wroteOf(ctx, how, c.SaveLogs))
		}
		leads := false
		for _, m := range members {
			if m.Server {
				continue
			}
			if err := p.ask(ctx, c, m.Name, b); err != nil {
				return err
			}
			if v, seen := p.last(m.Name); seen && v.View.Role == history.Leader {
				leads, leader = true, m.Name
			}
		}
		if leads {
			p.Led = true
			led += c.Now() - before
		}
		p.Watched = c.Now() - began
	}
	if c, ok := c.(*containers); ok {
		if err := c.Unheard(ctx); err != nil {
			return err
		}
		p.write(ctx, c, leader)
		p.Apart = c.TellApart(ctx, members[0].Name)
	}
	if err := p.keep(ctx, c, leader); err != nil {
		return err
	}
	for _, m := range members {
		if a, ok := c.node(m.Name).(*systemNode); ok {
			if says, ok := a.Observer.(election.RoleCounter); ok && len(says.Roles()) > 0 {
				p.Roles[m.Name] = says.Roles()
			}
		}
	}
	if a, ok := c.node(leader).(*systemNode); ok {
		if keeps, ok := a.Observer.(election.Quoter); ok {
			p.Answer = keeps.Answer()
		}
	}
	return nil
}

// write has the leader write once to the target's own resource, if it has one that is written to.
func (p *Probe) write(ctx context.Context, c *containers, leader string) {
	v, seen := p.last(leader)
	if p.Tried = seen && p.Led && c.writer != nil; !p.Tried {
		return
	}
	within, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	accepted, err := c.writer.Write(within, c.member(leader), c.members, election.Write{Token: v.View.Term, Value: 1})
	if p.Wrote = err; err == nil && !accepted {
		p.Wrote = fmt.Errorf("it was refused, and nobody had written with a token above %d", v.View.Term)
	}
}

// keep has clients read the leader's number, write it and read it again, if the nodes keep one. It fails if the cluster is lost.
func (p *Probe) keep(ctx context.Context, c trial, leader string) error {
	get, put := c.register(leader)
	if p.Kept = p.Led && get != nil; !p.Kept {
		return nil
	}
	return c.do(ctx, leader, func(ctx context.Context) {
		if _, p.Keeps = get(ctx); p.Keeps != nil {
			return
		}
		const written = 1<<32 + 1 // wander writes more than 32 bits hold
		if p.Keeps = put(ctx, written); p.Keeps != nil {
			return
		}
		if read, err := get(ctx); err != nil || read != written {
			p.Keeps = cmp.Or(err, hint.Add(fmt.Errorf("%d was written, and %d was read then", written, read),
				"a server that answers before a write is done breaks linearizable by that alone, and takes a driver in Go; else, do get and put name one key, and does get find the whole number?"))
		}
	})
}

// Untold says which answers name a leader whose id nobody told; "" if there are none.
func (p *Probe) Untold() string { return p.untold.words("Answers") }

// ask asks a node once. It fails if the cluster is lost.
func (p *Probe) ask(ctx context.Context, c trial, node string, b history.Bounds) error {
	var v history.View
	var took time.Duration
	var err error
	if lost := c.do(ctx, node, func(ctx context.Context) {
		asked := time.Now()
		v, err = c.node(node).View(ctx)
		took = time.Since(asked)
	}); lost != nil {
		return lost
	}
	p.Asked++
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = hint.Add(fmt.Errorf("there is no answer within %v", trialPatience), "%s", quicker(b, true, answerWithin))
		}
		p.Failed++
		p.Why = err
		if _, seen := p.last(node); !seen {
			p.Mute[node] = err
		}
		if specfile.Unreadable(err) && !p.untold.add(node, err) {
			p.Unread++
			p.Strange = err
		}
		return nil
	}
	delete(p.Mute, node)
	p.Slow = max(p.Slow, took)
	if took > workloads.Patience(b.Poll) {
		p.Late++
		p.Sooner = quicker(b, true, p.Slow)
	}
	p.see(c.Now(), node, v, false)
	return nil
}

func (p *Probe) see(at time.Duration, node string, v history.View, told bool) {
	if last, seen := p.last(node); !seen || last.View != v {
		p.Views = append(p.Views, ProbeView{at, node, v, told})
	}
}

// AtOdds says how nodes contradict each other in what they said last, if they do.
func (p *Probe) AtOdds() string {
	var said []ProbeView
	for _, node := range p.Nodes {
		if v, seen := p.last(node); seen && !v.View.Torn {
			said = append(said, v)
		}
	}
	for _, a := range said {
		for _, b := range said {
			if a.View.Role != history.Leader || a.View.Term != b.View.Term || b.View.Leader == "" || a.View.Leader == b.View.Leader {
				continue
			}
			in := ""
			if a.View.Term > 0 {
				in = fmt.Sprintf(" in term %d", a.View.Term)
			}
			if b.View.Role == history.Leader {
				return fmt.Sprintf("%s and %s both say that they lead%s: does each tell of itself?", a.Node, b.Node, in)
			}
			return fmt.Sprintf("%s says that it leads%s, and %s names %s: is that what servers call each other?", a.Node, in, b.Node, b.View.Leader)
		}
	}
	return ""
}

// TwoCounts says of a node that it never answered that it leads in a term of which its log told so, and the other way round, if there
// is one: lines and answers of one leadership have one term, or each such is taken for two.
func (p *Probe) TwoCounts() string {
	for _, node := range p.Nodes {
		var wrote, answered []uint64
		for _, v := range p.Views {
			switch {
			case v.Node != node || v.View.Role != history.Leader || v.View.Torn || v.View.Term == 0:
			case v.Told:
				wrote = append(wrote, v.View.Term)
			default:
				answered = append(answered, v.View.Term)
			}
		}
		both := slices.ContainsFunc(wrote, func(term uint64) bool { return slices.Contains(answered, term) })
		if len(wrote) > 0 && len(answered) > 0 && !both {
			return fmt.Sprintf("%s wrote that it leads in term %d, and answered that it leads in term %d: do its lines number terms as its answers do, and does a line tell of each?",
				node, wrote[0], answered[0])
		}
	}
	return ""
}

// Silent are the nodes of which nothing was seen, neither an answer nor a line of the log that tells anything. It is due of each where another
// began by telling that it follows: lines that tell of leaders alone, and of what becomes of them, come of no other node.
func (p *Probe) Silent() (nodes []string, due bool) {
	first := map[string]history.Role{}
	for _, v := range slices.Backward(p.Views) {
		first[v.Node] = v.View.Role
	}
	for _, node := range p.Nodes {
		if _, seen := first[node]; !seen && !slices.Contains(p.servers, node) {
			nodes = append(nodes, node)
		}
	}
	for _, role := range first {
		due = due || role == history.Follower
	}
	return nodes, due
}

// Strangers are the nodes that were seen, and named nobody all the time though another led, where nodes name whom they follow.
func (p *Probe) Strangers() (nodes []string) {
	if !p.Names || !p.Led {
		return nil
	}
	for _, node := range p.Nodes {
		if _, seen := p.last(node); seen && !slices.Contains(p.servers, node) &&
			!slices.ContainsFunc(p.Views, func(v ProbeView) bool { return v.Node == node && v.View.Leader != "" }) {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// last is what a node was last seen to say.
func (p *Probe) last(node string) (v ProbeView, seen bool) {
	for _, v := range slices.Backward(p.Views) {
		if v.Node == node {
			return v, true
		}
	}
	return v, false
}
