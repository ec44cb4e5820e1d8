package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"sync"
	"time"

	"recount/harness"
	"recount/harness/record"
	"recount/history"
	"recount/internal/keyed"
	"recount/report"
)

// What nodes have sent each other is in no history. Runs in virtual time and in containers keep it in a file beside it; a simulated
// run can be made again from its plan, the same byte for byte, with somebody listening.

// diagramPage is a Lamport diagram of a stretch of a run. The browser draws it from what the API says.
type diagramPage struct {
	Run      *Run
	At, Span string // milliseconds, as the page asks for them at first
	Near     string // how many of them where single messages are known; 0 for as many
	API      string
}

// spanAtFirst is how much of a run the diagram shows until somebody asks for another stretch: as much as a few messages take.
func spanAtFirst(r *record.Run) time.Duration {
	if r.Cluster == record.OnDocker { // where a second may be the least that can be told
		return 8 * time.Second
	}
	return spanOfMessages(r)
}

// spanOfMessages is the same where every message is known.
func spanOfMessages(r *record.Run) time.Duration {
	if s := r.History.Setup(); s != nil && r.Cluster != record.OnSim { // where a heartbeat is due a few times in a silence
		return s.Bounds.Silence / 4
	}
	return 30 * time.Millisecond
}

func (s *Server) diagram(w http.ResponseWriter, r *http.Request, run *Run) {
	p := diagramPage{Run: run, API: "/api/v1" + link(run.ID)}
	full, err := s.runs.run(run.ID)
	if err != nil {
		s.fail(w, r, http.StatusUnprocessableEntity, run.problem(err))
		return
	}
	span := spanAtFirst(full)
	at := max(0, interesting(full)-span/4)
	p.At, p.Span, p.Near = fmt.Sprint(at.Milliseconds()), fmt.Sprint(span.Milliseconds()), "0"
	if near := spanOfMessages(full); near < span {
		p.Near = fmt.Sprint(near.Milliseconds())
	}
	s.show(w, r, "diagram", frame{Title: run.Title + " message by message", Tab: "runs", Scripts: []string{"diagram.js"}, Page: p})
}

// interesting is where a run becomes worth a closer look: at its first violation, or its first fault.
func interesting(r *record.Run) time.Duration {
	first := time.Duration(-1)
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; kindOf(v) != "" && v.From > 0 && (first < 0 || v.From < first) {
			first = v.From
		}
	}
	for i := 0; first < 0 && i < len(r.History.Ops); i++ {
		if op := &r.History.Ops[i]; op.F == history.Inject && op.Type != history.Invoke {
			first = op.Time
		}
	}
	return max(first, 0)
}

// repeated keeps the run that was made again last.
type repeated struct {
	making keyed.Locks[string] // by the runs' ids

	mu   sync.Mutex
	id   string
	of   *record.Run
	sent []record.Message
	err  error
}

// mostRepeated is how many ops a run may have that is made again while somebody waits.
const mostRepeated = 400_000

// messages returns the messages of a run. Who asks for them while they are made waits for that, and no longer than his context lasts.
func (p *repeated) messages(ctx context.Context, id string, full *record.Run) ([]record.Message, error) {
	unlock, err := p.making.Lock(ctx, id)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if sent, err, known := p.last(id, full); known {
		return sent, err
	}
	sent, err := again(ctx, full)
	if ctx.Err() == nil {
		p.mu.Lock()
		p.id, p.of, p.sent, p.err = id, full, sent, err
		p.mu.Unlock()
	}
	return sent, err
}

// last returns what was made last, if it is of that run.
func (p *repeated) last(id string, full *record.Run) (sent []record.Message, err error, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent, p.err, p.id == id && p.of == full
}

// sentence is why there are no messages, as a page shows it.
type sentence string

func (s sentence) Error() string { return string(s) }

func again(ctx context.Context, full *record.Run) ([]record.Message, error) {
	switch {
	case full.Cluster != record.OnSim:
		return nil, sentence("This run has kept no messages, only its ops; made again by recount run, it keeps them.")
	case !full.Plan.Known():
		return nil, sentence("The run came without its plan, so it cannot be made again with its messages.")
	case len(full.History.Ops) > mostRepeated:
		return nil, sentence(fmt.Sprintf("The run has %d ops, too many to be made again while you wait.", len(full.History.Ops)))
	}
	sent, h, err := harness.Messages(ctx, full.Plan)
	if err != nil {
		return nil, sentence(fmt.Sprintf("The run cannot be made again here: %v.", err))
	}
	if harness.Same(full.History, h) != nil {
		return nil, sentence("Made again, the run is another: a different version of Recount or of its target made it, or it was interrupted.")
	}
	all := make([]record.Message, len(sent))
	for i := range sent {
		all[i] = harness.Sent(&sent[i])
	}
	return all, nil
}

// moment is an op that changed what somebody knew, or the cluster.
type moment struct {
	Index int           `json:"index"`
	Time  time.Duration `json:"time"`
	Node  string        `json:"node,omitempty"`
	F     history.F     `json:"f"`
	Words string        `json:"words"`
	View  *view         `json:"view,omitempty"`

	Procs map[string]*view `json:"procs,omitempty"` // of nodes whose processes it changed: what is known of each from then on
}

// view is what a node says of the election. Of one whose process has ended nothing is known but that.
type view struct {
	Role   string            `json:"role,omitempty"`
	Term   uint64            `json:"term,omitempty"`
	Leader string            `json:"leader,omitempty"`
	State  history.ProcState `json:"state,omitempty"` // of its process, where that does not run
}

// ended reports whether the node's process has.
func (v view) ended() bool { return v.State != "" && !report.Still(v.State) }

// process returns what is known of a node when its process gets into a state.
func (v view) process(to history.ProcState) view {
	if to == history.Up {
		to = ""
	}
	if is := (view{State: to}); v.ended() || is.ended() {
		return is
	}
	v.State = to // it goes on as what it was
	return v
}

const (
	mostMessages = 1500
	mostMoments  = 1500
)

// excerpt is all that happened between the nodes in a part of a run.
type excerpt struct {
	Nodes    []string         `json:"nodes"`
	From     time.Duration    `json:"from"`
	To       time.Duration    `json:"to"`
	End      time.Duration    `json:"end"`   // of the run
	Known    map[string]*view `json:"known"` // what each node knew when it began
	Messages []record.Message `json:"messages"`
	Moments  []moment         `json:"moments"`
	Missing  string           `json:"missing,omitempty"` // why there are no messages
	Left     int              `json:"left,omitempty"`    // messages and moments that were too many

	views map[string]view // what each node knows, as far as ops were taken
}

// learn takes up what a node knows from a time on.
func (e *excerpt) learn(node string, v view, at time.Duration) *view {
	e.views[node] = v
	if at < e.From {
		e.Known[node] = &v
	}
	return &v
}

// take takes up the run's next op.
func (e *excerpt) take(op *history.Op) {
	e.End = op.Time
	m, tells := momentOf(op)
	if op.Time > e.To {
		return
	}
	for _, p := range procsOf(op) {
		if was := e.views[p.Node]; op.Type != history.Invoke {
			if m.Procs == nil {
				m.Procs = map[string]*view{}
			}
			m.Procs[p.Node] = e.learn(p.Node, was.process(p.State), op.Time)
		} else if p.State == history.Up && was.ended() { // it may answer before the nemesis has seen it
			e.learn(p.Node, view{}, op.Time)
		}
	}
	if !tells {
		return
	}
	if m.View != nil {
		was := e.views[op.Node]
		if m.View.State = was.State; was.ended() || was == *m.View { // an answer that was under way when its process ended, or nothing new
			return
		}
		m.View = e.learn(op.Node, *m.View, op.Time)
	}
	switch {
	case op.Time < e.From:
	case len(e.Moments) == mostMoments:
		e.Left++
	default:
		e.Moments = append(e.Moments, m)
	}
}

// carry takes up a message.
func (e *excerpt) carry(m *record.Message) {
	switch {
	case m.Arrived < e.From || m.Sent > e.To:
	case len(e.Messages) == mostMessages:
		e.Left++
	default:
		e.Messages = append(e.Messages, *m)
	}
}

// apiMessages is GET /api/v1/runs/{id}/messages?at=&span=: all that happened between the nodes in a stretch of time.
func (s *Server) apiMessages(w http.ResponseWriter, r *http.Request, run *Run) {
	q := queryOf(r)
	q.need("times with a unit, as in at=3.5s&span=400ms", "at", "span")
	at, length := q.instant(), q.time("span", "a length of time above none", "400ms", 1)
	if s.refuses(w, r, q) {
		return
	}
	full, err := s.runs.run(run.ID)
	if err != nil {
		s.fail(w, r, http.StatusUnprocessableEntity, run.problem(err))
		return
	}
	out := &excerpt{Nodes: append([]string{}, full.Nodes...), From: *at, To: history.Sum(*at, *length), Known: map[string]*view{},
		Messages: []record.Message{}, Moments: []moment{}, views: map[string]view{}}
	for i := range full.History.Ops {
		out.take(&full.History.Ops[i])
	}
	count, last := 0, time.Duration(0)
	err = s.eachMessage(r.Context(), run, full, func(m *record.Message) {
		count, last = count+1, m.Arrived
		out.carry(m)
	})
	switch {
	case err != nil:
		out.Missing = err.Error()
	case count == 0 && full.Cluster != record.OnSim:
		out.Missing = "This run has kept no messages, only its ops."
	case count >= record.MostMessages && last < out.To:
		out.Missing = fmt.Sprintf("There were too many messages to keep them all: they are known until %v.", last.Round(time.Millisecond))
	}
	answer(w, out)
}

// eachMessage calls f with all that the nodes of a run have sent each other, as far as it is known.
func (s *Server) eachMessage(ctx context.Context, run *Run, full *record.Run, f func(m *record.Message)) error {
	err := record.EachMessage(s.folder(run), f)
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return sentence(fmt.Sprintf("Its messages cannot be read: %v.", err))
	}
	sent, err := s.repeated.messages(ctx, run.ID, full)
	for i := range sent {
		f(&sent[i])
	}
	return err
}

// momentOf returns what an op tells of who knew what, or of the cluster.
func momentOf(op *history.Op) (m moment, tells bool) {
	m = moment{Index: op.Index, Time: op.Time, Node: op.Node, F: op.F, Words: report.Words(op)}
	switch op.F {
	case history.Announce, history.Observe:
		m.View = &view{Role: op.View.Role.String(), Term: op.View.Term, Leader: op.View.Leader}
		return m, op.Type == history.OK
	case history.Inject, history.Change, history.Heal:
		m.Words = string(op.F) + " " + m.Words
		return m, op.Type != history.Invoke
	case history.Exit, history.Granted, history.Alarm:
		return m, true
	case history.Write:
		m.Words = op.Type.String() + ": " + m.Words
		return m, op.Type != history.Invoke
	}
	return m, false
}

// procsOf returns what an op does to processes.
func procsOf(op *history.Op) []history.Proc {
	switch {
	case op.F == history.Exit && op.Fault == nil:
		return []history.Proc{{Node: op.Node, State: report.Exited}}
	case op.Fault == nil || op.Type == history.Fail:
		return nil
	}
	return op.Fault.Procs
}
