package member

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"sync"

	"recount/election"
	"recount/history"
	"recount/internal/accept"
)

// asker returns the node's view, or false if ctx ends before there is an answer.
type asker func(ctx context.Context) (v history.View, ok bool)

// commander hands a command to the node, and returns false if ctx ends before. done is called with what became of it,
// unless nobody will ever know.
type commander func(ctx context.Context, c election.Command, done func(value uint64, err error)) bool

// serveControl serves every client that connects, until the listener is closed. Another error, as where there is no memory for a
// connection, is no end of the node; of several in a row the first is logged.
func serveControl(ctx context.Context, l net.Listener, j *journal, ask asker, command commander, log *log.Logger) error {
	var clients sync.WaitGroup
	defer clients.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err := accept.Each(l, func(conn net.Conn) {
		clients.Go(func() {
			s := &session{conn: conn, journal: j, ask: ask, command: command, results: make(chan reply, 256)}
			s.serve(ctx)
		})
	}, func(err error) { log.Printf("accept clients: %v", err) })
	return fmt.Errorf("node: accept clients: %w", err)
}

// session is one client's connection.
type session struct {
	conn      net.Conn
	journal   *journal
	ask       asker
	command   commander
	results   chan reply     // of commands, to be sent
	following sync.WaitGroup // what goes on beside the requests

	mu sync.Mutex // one line at a time
}

// serve answers requests until the client hangs up, asks for nonsense, or ctx ends.
func (s *session) serve(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(ctx, func() { s.conn.Close() })
	defer s.following.Wait()
	defer cancel()
	s.following.Go(func() { s.report(ctx) })
	lines := bufio.NewScanner(s.conn)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil || !s.answer(ctx, r) {
			return
		}
	}
}

// answer does what a request asks for, and reports whether there may be another.
func (s *session) answer(ctx context.Context, r request) bool {
	switch r.Ask {
	case "view":
		v, ok := s.ask(ctx)
		return ok && s.send(reply{ID: r.ID, View: viewOf(v)}) == nil
	case "command":
		return r.Command != nil && s.command(ctx, *r.Command, func(value uint64, err error) {
			re := reply{ID: r.ID, Result: &result{Value: value}}
			if err != nil {
				re.Result.Refused = err.Error()
			}
			select { // the node does not wait for a slow client
			case s.results <- re:
			default:
			}
		})
	case "announcements":
		var after Mark
		if r.After != nil {
			after = *r.After
		}
		s.following.Go(func() { s.follow(ctx, after) })
		return true
	}
	return false
}

// report sends what becomes of commands until ctx ends or the connection breaks.
func (s *session) report(ctx context.Context) {
	for {
		select {
		case r := <-s.results:
			if s.send(r) != nil {
				s.conn.Close()
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// follow sends what is announced after a mark until ctx ends or the connection breaks.
func (s *session) follow(ctx context.Context, after Mark) {
	for {
		list, grown := s.journal.after(after)
		for i := range list {
			if s.send(replyOf(&list[i])) != nil {
				s.conn.Close()
				return
			}
			after = list[i].Mark
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return
		}
	}
}

func (s *session) send(r reply) error {
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("node: encode a reply: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err = s.conn.Write(append(b, '\n'))
	return err
}
