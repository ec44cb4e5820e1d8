package docker

import (
	"bufio"
	"net"
	"testing"

	"github.com/hashicorp/yamux"
	"github.com/stretchr/testify/require"

	"recount/docker/agent"
)

// An answer that cannot be read is told as what it is: the agent lives, and has said nothing of an end.
func TestWhyTheLineToTheAgentBroke(t *testing.T) {
	for want, answer := range map[string]string{
		"bufio.Scanner: token too long": "", // without an end
		"invalid character":             "hello\n",
	} {
		ours, theirs := net.Pipe()
		client, err := yamux.Client(ours, agent.Mux())
		require.NoError(t, err)
		server, err := yamux.Server(theirs, agent.Mux())
		require.NoError(t, err)
		t.Cleanup(func() { server.Close() })
		r := &remote{session: client, waiting: map[uint64]chan<- agent.Reply{}, gone: make(chan struct{})}
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
		_, err = r.ask(t.Context(), agent.Request{Traffic: true})
		require.ErrorContains(t, err, "the connection to the agent broke: "+want)
		<-client.CloseChan() // the agent is hung up on
	}
}
