package docker

import (
	"bufio"
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/yamux"
	"github.com/stretchr/testify/require"

	"recount/docker/agent"
)

// lineTo is a line to an agent, and the agent's end of it.
func lineTo(t *testing.T) (*remote, *yamux.Session) {
	t.Helper()
	r, server, _ := pausable(t)
	return r, server
}

// paused is a connection on which nothing is written while it is held.
type paused struct {
	net.Conn
	sync.Mutex
}

func (p *paused) Write(b []byte) (int, error) {
	p.Lock()
	defer p.Unlock()
	return p.Conn.Write(b)
}

// pausable is lineTo, with what holds the line.
func pausable(t *testing.T) (*remote, *yamux.Session, sync.Locker) {
	t.Helper()
	ours, theirs := net.Pipe()
	held := &paused{Conn: ours}
	client, err := yamux.Client(held, agent.Mux())
	require.NoError(t, err)
	server, err := yamux.Server(theirs, agent.Mux())
	require.NoError(t, err)
	t.Cleanup(func() { client.Close(); server.Close() })
	return &remote{session: client, requests: make(chan request), waiting: map[uint64]chan<- agent.Reply{}, gone: make(chan struct{})}, server, held
}

// An engine that stands still takes no request, and keeps nobody who has but so long.
func TestWhoCannotAskGoesAway(t *testing.T) {
	r, _, line := pausable(t)
	require.NoError(t, r.open())
	line.Lock()
	defer line.Unlock()
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		_, err := r.ask(ctx, agent.Request{Read: true})
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
}

// Nor does it keep who wants a connection.
func TestWhoCannotDialGoesAway(t *testing.T) {
	r, _, line := pausable(t)
	line.Lock()
	defer line.Unlock()
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		_, err := r.dial(ctx, agent.Port{Node: "n1", Port: 7000})
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
}

// An answer that cannot be read is told as what it is: the agent lives, and has said nothing of an end.
func TestWhyTheLineToTheAgentBroke(t *testing.T) {
	for want, answer := range map[string]string{
		"bufio.Scanner: token too long": "", // without an end
		"invalid character":             "hello\n",
	} {
		r, server := lineTo(t)
		require.NoError(t, r.open())
		go func() {
			control, err := server.AcceptStream()
			if err != nil {
				return
			}
			lines := bufio.NewScanner(control)
			for range 2 { // the opening, and the question
				lines.Scan()
			}
			for err == nil {
				if _, err = control.Write([]byte(answer)); answer == "" {
					_, err = control.Write(make([]byte, 1<<20))
				}
			}
		}()
		_, err := r.ask(t.Context(), agent.Request{Traffic: true})
		require.ErrorContains(t, err, "the connection to the agent broke: "+want)
		<-r.session.CloseChan() // the agent is hung up on
	}
}

// Who could not begin to speak to the agent does not wait for it to end nodes.
func TestAClusterWhoseAgentWasNeverSpokenToIsClosedAtOnce(t *testing.T) {
	r, _, line := pausable(t)
	line.Lock()
	go func() {
		defer line.Unlock()
		for r.session.NumStreams() == 0 {
			time.Sleep(time.Millisecond)
		}
		go r.session.Close()
		<-r.session.CloseChan()
	}()
	require.Error(t, r.open())
	c := &Cluster{remote: r, config: Config{Disks: true}}
	ctx, cancel := context.WithTimeout(t.Context(), endWithin/2)
	defer cancel()
	require.False(t, c.endNodes(ctx))
	require.NoError(t, ctx.Err())
}

// An agent that does not answer keeps nobody who does not wait for it any more.
func TestWhoIsNotAnsweredGoesAway(t *testing.T) {
	r, server := lineTo(t)
	c := &Cluster{remote: r, names: []string{"n1"}}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		if _, err := server.AcceptStream(); err == nil {
			cancel()
		}
	}()
	require.ErrorIs(t, c.Capture(ctx, []int{1}, nil), context.Canceled)
	_, err := c.Dial(ctx, "n1", 1)
	require.ErrorIs(t, err, context.Canceled)
}

// A connection to a port that nobody listens on is closed.
func TestAConnectionThatNobodyServes(t *testing.T) {
	r, server := lineTo(t)
	go r.accept()
	stream, err := server.OpenStream()
	require.NoError(t, err)
	require.NoError(t, agent.WriteLine(stream, agent.Opening{Accepted: &agent.Port{Node: "n1", Port: 7000}}))
	require.NoError(t, stream.SetDeadline(time.Now().Add(10*time.Second)))
	_, err = stream.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
}
