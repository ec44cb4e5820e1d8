// Package systemtest helps to test drivers of real systems without any: what a driver makes of the answers and logs of servers.
package systemtest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/internal/hint"
	"recount/targets"
)

// Members are n1, n2 and n3, at 10.77.0.11 to 13.
func Members() (all []election.Member) {
	for n := byte(1); n <= 3; n++ {
		all = append(all, election.Member{ID: election.ID(n), Addr: netip.AddrFrom4([4]byte{10, 77, 0, 10 + n})})
	}
	return all
}

// System is the driver of the real system that is registered under the name, with these options.
func System(t *testing.T, name string, given map[string]string) election.System {
	t.Helper()
	target, err := targets.Find(name)
	require.NoError(t, err)
	target = target.On(true, given)
	o, err := target.Parse(given)
	require.NoError(t, err)
	s, err := target.System(o)
	require.NoError(t, err)
	return s
}

// Observe observes n1 of that system, whose port gives one answer over HTTP.
func Observe(t *testing.T, name string, given map[string]string, port, code int, answer string) (election.Status, bool, error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = w.Write([]byte(answer))
	}))
	defer server.Close()
	o := System(t, name, given).Observer(Members()[0], Members(), func(ctx context.Context, p int) (net.Conn, error) {
		if p != port {
			return nil, fmt.Errorf("port %d is not the one that answers", p)
		}
		return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
	})
	defer o.Close()
	return o.Observe(t.Context())
}

// Added is how a member of a main of ours is started that was added, under that number.
func Added(t *testing.T, name string, who election.ID, number int) (command []string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `{"number":%d}`, number) }))
	defer server.Close()
	s, all := System(t, name, nil), Members()
	y, can := s.(election.Reconfigurable)
	require.True(t, can)
	require.NotContains(t, s.Container(all[who-1], all).Command, fmt.Sprintf("--number=%d", number))
	require.NoError(t, y.Reconfigure(t.Context(), all[0], all, who, election.Voter, func(ctx context.Context, _ int) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
	}))
	return s.Container(all[who-1], all).Command
}

// Refuses checks that the target refuses the value of an option, with that hint.
func Refuses(t *testing.T, name, option, value, wayOut string) {
	t.Helper()
	target, err := targets.Find(name)
	require.NoError(t, err)
	target = target.On(true, nil)
	o, err := target.Parse(map[string]string{option: value})
	require.NoError(t, err)
	_, err = target.System(o)
	require.ErrorContains(t, err, name+": option")
	require.Contains(t, hint.Of(err), wayOut)
}

// Promises checks whether the target promises a property with these options.
func Promises(t *testing.T, name string, given map[string]string, property string, promised bool) {
	t.Helper()
	target, err := targets.Find(name)
	require.NoError(t, err)
	o, err := target.Parse(given)
	require.NoError(t, err)
	does, _ := target.Promised(o, property)
	require.Equal(t, promised, does, "%s %v: %s", name, given, property)
}

// Announces checks what n1's driver reads in a line of its log: nothing if want is nil.
func Announces(t *testing.T, name, line string, want *election.Status) {
	t.Helper()
	s, ok := System(t, name, nil).(election.LogReader).ReadLog(1, line)
	require.Equal(t, want != nil, ok, line)
	if want != nil {
		require.Equal(t, *want, s, line)
	}
}
