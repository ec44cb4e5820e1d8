package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"recount/harness"
	"recount/harness/record"
	"recount/history"
	"recount/report"
	"recount/sim"
)

// The messages of a simulated run: no history has them, but the run can be made again from its plan, the same byte for byte, with
// somebody listening.

// diagramPage is a Lamport diagram of a stretch of a run. The browser draws it from what the API says.
type diagramPage struct {
	Run      *Run
	At, Span string // milliseconds, as the page asks for them at first
	API      string
}

// spanAtFirst is how much of a run the diagram shows until somebody asks for another stretch.
const spanAtFirst = 30 * time.Millisecond

func (s *Server) diagram(w http.ResponseWriter, r *http.Request, run *Run) {
	p := diagramPage{Run: run, API: "/api/v1" + link(run.ID)}
	full, err := s.runs.run(run.ID)
	if err != nil {
		s.fail(w, r, http.StatusUnprocessableEntity, problem(err))
		return
	}
	at := max(0, interesting(full)-spanAtFirst/4)
	p.At, p.Span = fmt.Sprint(at.Milliseconds()), fmt.Sprint(spanAtFirst.Milliseconds())
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
	mu   sync.Mutex
	id   string
	of   *record.Run
	sent []sim.Carried
	err  error
}

// mostRepeated is how many ops a run may have that is made again while somebody waits.
const mostRepeated = 400_000

// messages returns the messages of a run.
func (p *repeated) messages(ctx context.Context, id string, full *record.Run) ([]sim.Carried, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.id == id && p.of == full {
		return p.sent, p.err
	}
	sent, err := again(ctx, full)
	if ctx.Err() == nil {
		p.id, p.of, p.sent, p.err = id, full, sent, err
	}
	return sent, err
}

func again(ctx context.Context, full *record.Run) ([]sim.Carried, error) {
	switch {
	case full.Cluster != record.OnSim:
		return nil, errors.New("Only the simulator knows every message; what is known of this run are its ops.")
	case !full.Plan.Known():
		return nil, errors.New("The run came without its plan, so it cannot be made again with its messages.")
	case len(full.History.Ops) > mostRepeated:
		return nil, fmt.Errorf("The run has %d ops, too many to be made again while you wait.", len(full.History.Ops))
	}
	sent, h, err := harness.Messages(ctx, full.Plan)
	if err != nil {
		return nil, fmt.Errorf("The run cannot be made again here: %w.", err)
	}
	if !same(h, full.History) {
		return nil, errors.New("Made again, the run is another: a different version of Recount or of its target made it, or it was interrupted.")
	}
	return sent, nil
}

// same reports whether two histories are, byte for byte, but for what begins them: it tells the version.
func same(a, b *history.History) bool {
	if len(a.Ops) != len(b.Ops) {
		return false
	}
	var x, y []byte
	for i := 1; i < len(a.Ops); i++ {
		x, y = a.Ops[i].AppendJSON(x[:0]), b.Ops[i].AppendJSON(y[:0])
		if !bytes.Equal(x, y) {
			return false
		}
	}
	return true
}

// letter is a message as the API tells it.
type letter struct {
	From    string        `json:"from"`
	To      string        `json:"to"`
	Sent    time.Duration `json:"sent"`
	Arrived time.Duration `json:"arrived"`
	Lost    string        `json:"lost,omitempty"`
	Kind    string        `json:"kind"`
	Term    uint64        `json:"term,omitempty"`
	Words   string        `json:"words"`
}

// moment is an op that changed what somebody knew, or the cluster.
type moment struct {
	Index int           `json:"index"`
	Time  time.Duration `json:"time"`
	Node  string        `json:"node,omitempty"`
	F     history.F     `json:"f"`
	Words string        `json:"words"`
	View  *view         `json:"view,omitempty"`
}

// view is what a node says of the election.
type view struct {
	Role   string `json:"role"`
	Term   uint64 `json:"term,omitempty"`
	Leader string `json:"leader,omitempty"`
}

const (
	mostLetters = 1500
	mostMoments = 1500
)

// apiMessages is GET /api/v1/runs/{id}/messages?at=&span=: all that happened between the nodes in a stretch of time.
func (s *Server) apiMessages(w http.ResponseWriter, r *http.Request, run *Run) {
	full, err := s.runs.run(run.ID)
	if err != nil {
		s.fail(w, r, http.StatusUnprocessableEntity, problem(err))
		return
	}
	q := r.URL.Query()
	from, err := time.ParseDuration(q.Get("at"))
	span, also := time.ParseDuration(q.Get("span"))
	if err != nil || also != nil || from < 0 || span <= 0 {
		s.fail(w, r, http.StatusBadRequest, "at and span are times with a unit: at=3.5s&span=400ms.")
		return
	}
	out := struct {
		Nodes    []string         `json:"nodes"`
		From     time.Duration    `json:"from"`
		To       time.Duration    `json:"to"`
		End      time.Duration    `json:"end"`
		Known    map[string]*view `json:"known"` // what each node knew when the stretch began
		Messages []letter         `json:"messages"`
		Moments  []moment         `json:"moments"`
		Missing  string           `json:"missing,omitempty"` // why there are no messages
		Left     int              `json:"left,omitempty"`    // messages and moments that were too many
	}{Nodes: full.Nodes, From: from, To: from + span, Known: map[string]*view{}, Messages: []letter{}, Moments: []moment{}}
	views := map[string]view{}
	for i := range full.History.Ops {
		op := &full.History.Ops[i]
		out.End = op.Time
		m, tells := momentOf(op)
		if !tells || op.Time > out.To {
			continue
		}
		if m.View != nil {
			if views[op.Node] == *m.View {
				continue
			}
			views[op.Node] = *m.View
			if op.Time < from {
				out.Known[op.Node] = m.View
			}
		}
		switch {
		case op.Time < from:
		case len(out.Moments) == mostMoments:
			out.Left++
		default:
			out.Moments = append(out.Moments, m)
		}
	}
	sent, err := s.repeated.messages(r.Context(), run.ID, full)
	if err != nil {
		out.Missing = err.Error()
	}
	for i := range sent {
		m := &sent[i]
		switch {
		case m.Arrived < from || m.Sent > out.To:
		case len(out.Messages) == mostLetters:
			out.Left++
		default:
			out.Messages = append(out.Messages, letter{m.From, m.To, m.Sent, m.Arrived, m.Lost, m.Message.Kind, m.Message.Term, contents(m)})
		}
	}
	answer(w, out)
}

// momentOf returns what an op tells of who knew what, or of the cluster.
func momentOf(op *history.Op) (m moment, tells bool) {
	m = moment{Index: op.Index, Time: op.Time, Node: op.Node, F: op.F, Words: report.Words(op)}
	switch op.F {
	case history.Announce, history.Observe:
		m.View = &view{op.View.Role.String(), op.View.Term, op.View.Leader}
		return m, op.Type == history.OK
	case history.Inject, history.Change, history.Heal:
		m.Words = string(op.F) + " " + m.Words
		return m, op.Type != history.Invoke
	case history.Exit, history.Granted:
		return m, true
	case history.Write:
		m.Words = op.Type.String() + ": " + m.Words
		return m, op.Type != history.Invoke
	}
	return m, false
}

// contents is what a message says, in words.
func contents(m *sim.Carried) string {
	s := m.Message.Kind
	if m.Message.Term != 0 {
		s += fmt.Sprintf(" term %d", m.Message.Term)
	}
	if m.Message.Value != 0 {
		s += fmt.Sprintf(" value %d", m.Message.Value)
	}
	if m.Message.Node != 0 {
		s += " about " + m.Message.Node.String()
	}
	if m.Message.OK {
		s += " yes"
	}
	if n := len(m.Message.List); n > 0 {
		s += fmt.Sprintf(" list %v", m.Message.List)
	}
	if n := len(m.Message.Data); n > 0 {
		s += fmt.Sprintf(" and %d bytes", n)
	}
	return s
}
