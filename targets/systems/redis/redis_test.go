package redis

import (
	"bufio"
	"context"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
)

func TestRedisAnswers(t *testing.T) {
	for text, want := range map[string][]string{
		"+PONG\r\n":                        {"PONG"},
		":7\r\n":                           {"7"},
		"$5\r\na\r\nbc\r\n":                {"a\r\nbc"},
		"$-1\r\n":                          {""},
		"*2\r\n$2\r\nOK\r\n$1\r\nx\r\n":    {"OK", "x"},
		"*2\r\n+OK\r\n*1\r\n$3\r\nabc\r\n": {"OK", "abc"},
	} {
		got, err := readAnswer(bufio.NewReader(strings.NewReader(text)))
		require.NoError(t, err, "%q", text)
		require.Equal(t, want, got)
	}
	_, err := readAnswer(bufio.NewReader(strings.NewReader("-LOADING Redis is loading\r\n")))
	require.Equal(t, refusal("LOADING Redis is loading"), err)
	for _, text := range []string{"", "\r\n", "$x\r\n", "$9999999\r\n", "*101\r\n", "?\r\n", "$5\r\nab"} {
		_, err := readAnswer(bufio.NewReader(strings.NewReader(text)))
		require.Error(t, err, "%q", text)
	}
}

// Only a master that takes writes leads.
func TestSentinelViews(t *testing.T) {
	o := &sentinelObserver{self: 2, ids: map[string]election.ID{"10.0.0.1": 1, "10.0.0.2": 2}}
	const master, replica = "# Replication\r\nrole:master\r\nconnected_slaves:1\r\n", "# Replication\r\nrole:slave\r\nmaster_host:10.0.0.1\r\n"
	require.Equal(t, election.Status{Role: election.Leader, Leader: 2}, o.read("OK", master))
	require.Equal(t, election.Status{Role: election.Candidate}, o.read("NOREPLICAS Not enough good replicas to write.", master))
	require.Equal(t, election.Status{Leader: 1}, o.read("READONLY", replica+"master_link_status:up\r\n"))
	require.Equal(t, election.Status{}, o.read("READONLY", replica+"master_link_status:down\r\n"))
}

// A server that answers an error is asked again over the same connection; one that hangs up, over another.
func TestRedisClientKeepsItsConnection(t *testing.T) {
	dials := 0
	answers := []string{"-ERR no\r\n", "+PONG\r\n", "", "+PONG\r\n"} // "" hangs up
	c := &client{dial: func(context.Context, int) (net.Conn, error) {
		dials++
		here, there := net.Pipe()
		go func() {
			defer there.Close()
			for r := bufio.NewReader(there); len(answers) > 0; {
				for range 3 { // *1, $4, PING
					if _, err := r.ReadString('\n'); err != nil {
						return
					}
				}
				a := answers[0]
				answers = answers[1:]
				if a == "" {
					return
				}
				_, _ = there.Write([]byte(a))
			}
		}()
		return here, nil
	}}
	defer c.Close()
	_, err := c.ask(t.Context(), "PING")
	require.Equal(t, refusal("ERR no"), err)
	_, err = c.ask(t.Context(), "PING")
	require.NoError(t, err)
	require.Equal(t, 1, dials)
	_, err = c.ask(t.Context(), "PING")
	require.Error(t, err)
	_, err = c.ask(t.Context(), "PING")
	require.NoError(t, err)
	require.Equal(t, 2, dials)
}
