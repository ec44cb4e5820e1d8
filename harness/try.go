package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	p = &Probe{Nodes: s.names, servers: s.servers, Names: !s.target.NoLeaderNames}
	p.Alone, p.Mute, p.Roles, p.Logs = map[string][]int{}, map[string]error{}, map[string]map[string]int{}, filepath.Join(dir, record.NodeLogs)
	p.Image, p.Args = c.first()
	return p, p.watch(ctx, c, s, cfg.Progress)
}

// saveAnswers writes what each node answered last, whole, beside its log: what is shown of it is its beginning.
func (p *Probe) saveAnswers(c trial) error {
	var errs []error
	for _, node := range p.Nodes {
		if keeps, ok := observer(c, node).(election.Quoter); ok && len(keeps.Answer()) > 0 {
			p.Answers = filepath.Join(p.Logs, "*.answer")
			errs = append(errs, os.WriteFile(filepath.Join(p.Logs, node+".answer"), keeps.Answer(), 0o644))
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

// watch starts the nodes, looks at them, and has the leader do what clients want of it.
func (p *Probe) watch(ctx context.Context, c trial, s *subject, say func(string)) error {
	p.listen(c)
	defer func() { p.Lines = c.Unread() }()
	began := c.Now()
	if err := c.Start(ctx); err != nil {
		return err
	}
	p.Ready = c.Now() - began
	leader, err := p.look(ctx, c, s, say)
	if err != nil {
		return err
	}
	p.reach(ctx, c)
	if c, ok := c.(*containers); ok {
		if err := c.Unheard(ctx); err != nil {
			return err
		}
		p.write(ctx, c, leader)
		p.Apart = c.TellApart(ctx, p.Nodes[0])
	}
	if err := p.keep(ctx, c, leader); err != nil {
		return err
	}
	for _, node := range p.Nodes {
		if says, ok := observer(c, node).(election.RoleCounter); ok && len(says.Roles()) > 0 {
			p.Roles[node] = says.Roles()
		}
	}
	if keeps, ok := observer(c, leader).(election.Quoter); ok {
		p.Answer = keeps.Answer()
	}
	return nil
}

// listen takes down what nodes tell by themselves.
func (p *Probe) listen(c trial) {
	c.OnExit(func(string, int) {})
	c.OnAlarm(func(node, line string) { p.Alarm = cmp.Or(p.Alarm, node+"  "+strings.TrimSpace(line)) })
	c.OnStall(func(time.Duration) {})
	c.OnGranted(func(string, history.Vote) {})
	c.OnApplied(func(string, history.Update) {})
	c.OnAnnounce(func(node string, v history.View) {
		p.Told++
		p.see(c.Now(), node, v, true)
	})
}

// look asks nodes for their views until one has led for a while and all that are due have told, or for as long as the target may take to
// elect. It returns the last that led, or n1.
func (p *Probe) look(ctx context.Context, c trial, s *subject, say func(string)) (leader string, err error) {
	b := s.bounds
	led, leader := time.Duration(0), "n1"
	waits := func() bool {
		silent, due := p.Silent()
		return led < max(2*b.Silence, time.Second) || due && len(silent) > 0 || len(p.Strangers()) > 0
	}
	began := c.Now()
	next := began + tellWatch
	for end := began + b.Elect + 2*b.Silence; c.Now() < end && waits(); {
		before := c.Now()
		if before >= next {
			next += tellWatch
			say(fmt.Sprintf("watching %s: %v of %v at most", count.Of(len(p.Nodes), "node"), (before - began).Round(time.Second), end-began))
		}
		if err := c.Run(ctx, c.Now()+b.Poll); err != nil {
			return "", err
		}
		if how := c.gone(); how != "" {
			return "", errors.New(how + wroteOf(ctx, how, c.SaveLogs))
		}
		leads := false
		for _, node := range p.Nodes {
			if slices.Contains(p.servers, node) {
				continue
			}
			if err := p.ask(ctx, c, node, b); err != nil {
				return "", err
			}
			if v, seen := p.last(node); seen && v.View.Role == history.Leader {
				leads, leader = true, node
			}
		}
		if leads {
			p.Led = true
			led += c.Now() - before
		}
		p.Watched = c.Now() - began
	}
	return leader, nil
}

// reach notes where nodes do not reach each other, if they have not come together.
func (p *Probe) reach(ctx context.Context, c trial) {
	if p.Led && len(p.Strangers()) == 0 || len(p.Nodes) == 1 {
		return
	}
	for _, node := range p.Nodes {
		if ports := c.alone(ctx, node); len(ports) > 0 {
			p.Alone[node] = ports
		}
	}
}

// observer is what asks a node of a real system; nil of one that is not asked.
func observer(c trial, node string) election.Observer {
	if a, ok := c.node(node).(*systemNode); ok {
		return a.Observer
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
