package docker

import (
	"bufio"
	"context"
	"net"
	"testing"

	"github.com/hashicorp/yamux"
	"github.com/stretchr/testify/require"

	"recount/docker/agent"
)

// lineTo is a line to an agent, and the agent's end of it.
func lineTo(t *testing.T) (*remote, *yamux.Session) {
	t.Helper()
	ours, theirs := net.Pipe()
	client, err := yamux.Client(ours, agent.Mux())
	require.NoError(t, err)
	server, err := yamux.Server(theirs, agent.Mux())
	require.NoError(t, err)
	t.Cleanup(func() { client.Close(); server.Close() })
	return &remote{session: client, waiting: map[uint64]chan<- agent.Reply{}, gone: make(chan struct{})}, server
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
