package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/pkg/stdcopy"
	"github.com/hashicorp/yamux"

	"recount/docker/agent"
	"recount/internal/hint"
)

// remote is the harness's end of the line to a run's agent.
type remote struct {
	session *yamux.Session
	control net.Conn // nil until the conversation has begun
	notice  func(agent.Reply)
	words   lastWords

	last     atomic.Uint64
	requests chan request // to whoever writes them, one after the other

	mu      sync.Mutex // guards the maps
	waiting map[uint64]chan<- agent.Reply
	serve   map[agent.Port]func(net.Conn)

	gone  chan struct{} // closed when the line is down
	broke error         // what broke it, once it is down; nil where the agent has hung up
}

// request is one on its way to the agent.
type request struct {
	agent.Request
	sent chan<- error
}

// newRemote speaks to the agent over an attachment to its container, begun before the container was started. Notices go
// to notice, on a goroutine of their own.
func newRemote(attached types.HijackedResponse, notice func(agent.Reply)) (*remote, error) {
	r := &remote{
		notice:   notice,
		requests: make(chan request),
		waiting:  map[uint64]chan<- agent.Reply{},
		serve:    map[agent.Port]func(net.Conn){},
		gone:     make(chan struct{}),
	}
	out, in := io.Pipe()
	go func() {
		_, err := stdcopy.StdCopy(in, &r.words, attached.Reader)
		in.CloseWithError(errors.Join(err, io.EOF))
	}()
	session, err := yamux.Client(stream{out, attached}, agent.Mux())
	if err != nil {
		attached.Close()
		return nil, err
	}
	r.session = session
	return r, nil
}

// open begins the conversation, once the agent's container was started.
func (r *remote) open() error {
	control, err := r.session.OpenStream()
	if err != nil {
		return err
	}
	if err := agent.WriteLine(control, agent.Opening{Control: true}); err != nil {
		return err
	}
	r.control = control
	go r.send()
	go r.listen()
	go r.accept()
	return nil
}

// ask sends one request and waits for its answer. Requests take effect in the order of the calls. Where the engine takes none, as
// one that stands still, it waits no longer than for ctx.
func (r *remote) ask(ctx context.Context, q agent.Request) (agent.Reply, error) {
	answer, sent := make(chan agent.Reply, 1), make(chan error, 1)
	q.ID = r.last.Add(1)
	r.mu.Lock()
	r.waiting[q.ID] = answer
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		delete(r.waiting, q.ID)
		r.mu.Unlock()
	}()
	requests := r.requests
	for {
		select {
		case requests <- request{q, sent}:
			requests = nil
		case err := <-sent:
			if err != nil && !errors.Is(err, yamux.ErrSessionShutdown) { // which has a reason
				return agent.Reply{}, fmt.Errorf("ask the agent: %w", err)
			}
		case a := <-answer:
			if a.Error != "" {
				err := fmt.Errorf("the agent says: %s", a.Error)
				if a.Hint != "" {
					err = hint.Add(err, "%s", a.Hint)
				}
				return a, err
			}
			return a, nil
		case <-r.gone:
			if r.broke != nil {
				return agent.Reply{}, fmt.Errorf("the connection to the agent broke: %w", r.broke)
			}
			return agent.Reply{}, fmt.Errorf("the agent is gone, saying %q", r.words.String())
		case <-ctx.Done():
			return agent.Reply{}, ctx.Err()
		}
	}
}

// send writes requests until the line is down.
func (r *remote) send() {
	for {
		select {
		case q := <-r.requests:
			q.sent <- agent.WriteLine(r.control, q.Request)
		case <-r.gone:
			return
		}
	}
}

// listen reads replies until the line is down, or one of them cannot be read.
func (r *remote) listen() {
	defer close(r.gone)
	defer r.session.Close()
	lines := agent.Lines(r.control)
	for lines.Scan() {
		var a agent.Reply
		if r.broke = json.Unmarshal(lines.Bytes(), &a); r.broke != nil {
			return
		}
		if a.ID == 0 {
			r.notice(a)
			continue
		}
		r.mu.Lock()
		answer := r.waiting[a.ID]
		r.mu.Unlock()
		if answer != nil {
			answer <- a
		}
	}
	r.broke = lines.Err()
}

// accept serves connections that nodes make to ports the harness listens on.
func (r *remote) accept() {
	for {
		stream, err := r.session.AcceptStream()
		if err != nil {
			return
		}
		go func() {
			var o agent.Opening
			if err := agent.ReadLine(stream, &o); err != nil || o.Accepted == nil {
				stream.Close()
				return
			}
			r.mu.Lock()
			serve := r.serve[*o.Accepted]
			r.mu.Unlock()
			if serve == nil { // nobody has asked for connections to that port
				stream.Close()
				return
			}
			serve(stream)
		}()
	}
}

// handle sets who serves connections to a port.
func (r *remote) handle(p agent.Port, serve func(net.Conn)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.serve[p] = serve
}

// begin opens a stream for what the opening says, and reads the agent's answer. It waits until ctx ends, also where the engine takes
// nothing; answer may be written to after that.
func (r *remote) begin(ctx context.Context, o agent.Opening, answer any) (net.Conn, error) {
	type begun struct {
		net.Conn
		error
	}
	done := make(chan begun)
	go func() {
		conn, err := r.beginning(ctx, o, answer)
		select {
		case done <- begun{conn, err}:
		case <-ctx.Done():
			if err == nil {
				conn.Close()
			}
		}
	}()
	select {
	case b := <-done:
		return b.Conn, b.error
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// beginning is begin, which waits for as long as it takes to send the opening.
func (r *remote) beginning(ctx context.Context, o agent.Opening, answer any) (net.Conn, error) {
	stream, err := r.session.OpenStream()
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { stream.SetDeadline(time.Now()) })
	if err = agent.WriteLine(stream, o); err == nil {
		err = agent.ReadLine(stream, answer)
	}
	if !stop() {
		err = ctx.Err()
	}
	if err != nil {
		stream.Close()
		return nil, err
	}
	return stream, nil
}

// dial opens a connection to a port of a node from within the node's own network.
func (r *remote) dial(ctx context.Context, to agent.Port) (net.Conn, error) {
	var answer agent.Dialed
	stream, err := r.begin(ctx, agent.Opening{Dial: &to}, &answer)
	if err != nil {
		return nil, err
	}
	switch {
	case answer.Refused:
		err = syscall.ECONNREFUSED
	case answer.Error != "":
		err = errors.New(answer.Error)
	default:
		return stream, nil
	}
	stream.Close()
	return nil, err
}

// close hangs up. The agent kills what it was shown and ends.
func (r *remote) close() { r.session.Close() }

// stream is the connection that yamux runs over: the agent's standard output, and its standard input.
type stream struct {
	*io.PipeReader
	attached types.HijackedResponse
}

func (l stream) Write(b []byte) (int, error) { return l.attached.Conn.Write(b) }

func (l stream) Close() error {
	l.attached.Close()
	return l.PipeReader.Close()
}

// lastWords keeps the end of what the agent wrote to its standard error: why it died.
type lastWords struct {
	mu  sync.Mutex
	end []byte
}

const lastWordsMax = 2000

func (l *lastWords) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end = append(l.end, b...)
	if len(l.end) > lastWordsMax {
		l.end = l.end[len(l.end)-lastWordsMax:]
	}
	return len(b), nil
}

func (l *lastWords) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(string(l.end))
}
