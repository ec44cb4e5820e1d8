package redis

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"recount/election"
)

// Only a master that takes writes leads.
func TestSentinelViews(t *testing.T) {
	o := &sentinelObserver{self: 2, ids: map[string]election.ID{"10.0.0.1": 1, "10.0.0.2": 2}}
	const master, replica = "# Replication\r\nrole:master\r\nconnected_slaves:1\r\n", "# Replication\r\nrole:slave\r\nmaster_host:10.0.0.1\r\n"
	require.Equal(t, election.Status{Role: election.Leader, Leader: 2}, o.read("OK", master))
	require.Equal(t, election.Status{Role: election.Candidate}, o.read("NOREPLICAS Not enough good replicas to write.", master))
	require.Equal(t, election.Status{Leader: 1}, o.read("READONLY", replica+"master_link_status:up\r\n"))
	require.Equal(t, election.Status{}, o.read("READONLY", replica+"master_link_status:down\r\n"))
}

// A server that answers an error is asked again over the same connection; one that hangs up, or does not answer in time,
// over another. Nothing is left running after Close.
func TestClientKeepsItsConnection(t *testing.T) {
	before := runtime.NumGoroutine()
	s := &server{answers: []string{"-LOADING Redis is loading\r\n", "+PONG\r\n", hangUp, "+PONG\r\n", silence, "+PONG\r\n"}}
	c := &client{dial: s.dial}
	ping := func(ctx context.Context) error {
		return c.ask(ctx, func(r *redis.Client) error { return r.Ping(ctx).Err() })
	}
	var refused redis.Error
	require.ErrorAs(t, ping(t.Context()), &refused)
	require.ErrorContains(t, refused, "LOADING Redis is loading")
	require.NoError(t, ping(t.Context()))
	require.EqualValues(t, 1, s.dials.Load())

	require.Error(t, ping(t.Context()))
	require.NoError(t, ping(t.Context()))
	require.EqualValues(t, 2, s.dials.Load())

	ctx, stop := context.WithCancel(t.Context())
	s.silent = stop
	require.ErrorIs(t, ping(ctx), context.Canceled)
	require.NoError(t, ping(t.Context()))
	require.EqualValues(t, 3, s.dials.Load())

	require.NoError(t, c.Close())
	require.NoError(t, c.Close())
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("left running: %s", stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// A script's answer is the two texts that it returns.
func TestSentinelObserves(t *testing.T) {
	const info = "role:master\r\n"
	s := &server{answers: []string{fmt.Sprintf("*2\r\n$2\r\nOK\r\n$%d\r\n%s\r\n", len(info), info), "*1\r\n+OK\r\n"}}
	o := &sentinelObserver{client: client{dial: s.dial}, self: 2}
	defer o.Close()
	status, _, err := o.Observe(t.Context())
	require.NoError(t, err)
	require.Equal(t, election.Status{Role: election.Leader, Leader: 2}, status)
	_, _, err = o.Observe(t.Context())
	require.ErrorContains(t, err, `redis answered ["OK"]`)
}

// server answers each command but the first of a connection, which asks for a version of the protocol, with the next of
// its answers.
type server struct {
	dials   atomic.Int32
	answers []string
	silent  func() // called in place of an answer that is silence
}

const hangUp, silence = "", "-"

func (s *server) dial(context.Context, int) (net.Conn, error) {
	s.dials.Add(1)
	here, there := net.Pipe()
	go func() {
		defer there.Close()
		r := bufio.NewReader(there)
		for first := true; ; first = false {
			if readCommand(r) != nil {
				return
			}
			if first {
				_, _ = io.WriteString(there, "-ERR unknown command\r\n")
				continue
			}
			a := s.answers[0]
			s.answers = s.answers[1:]
			switch a {
			case hangUp:
				return
			case silence:
				s.silent()
			default:
				_, _ = io.WriteString(there, a)
			}
		}
	}()
	return here, nil
}

// readCommand reads past one command: "*1\r\n$4\r\nPING\r\n".
func readCommand(r *bufio.Reader) error {
	var words, size int
	if _, err := fmt.Fscanf(r, "*%d\r\n", &words); err != nil {
		return err
	}
	for range words {
		if _, err := fmt.Fscanf(r, "$%d\r\n", &size); err != nil {
			return err
		}
		if _, err := r.Discard(size + 2); err != nil {
			return err
		}
	}
	return nil
}
