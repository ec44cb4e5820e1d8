package etcd

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
)

// store is a gateway that keeps keys, or answers all with an error.
type store struct {
	keys map[string]string // as they come, in base64
	fail string

	serializable bool // how reads are to be
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Key, Value   string
		Serializable bool
	}
	switch err := json.NewDecoder(r.Body).Decode(&q); {
	case err != nil || q.Key == "":
		http.Error(w, "no key", http.StatusBadRequest)
	case q.Serializable != s.serializable && r.URL.Path == "/v3/kv/range":
		http.Error(w, "not as it was to be read", http.StatusBadRequest)
	case s.fail != "":
		http.Error(w, s.fail, http.StatusServiceUnavailable)
	case r.URL.Path == "/v3/kv/put":
		s.keys[q.Key] = q.Value
		fmt.Fprint(w, `{"header":{}}`)
	case r.URL.Path == "/v3/kv/range" && s.keys[q.Key] == "":
		fmt.Fprint(w, `{"header":{}}`)
	case r.URL.Path == "/v3/kv/range":
		fmt.Fprintf(w, `{"header":{},"kvs":[{"key":%q,"value":%q}],"count":"1"}`, q.Key, s.keys[q.Key])
	}
}

func TestTheRegisterIsAKey(t *testing.T) {
	for _, reads := range []string{"linearizable", "serializable"} {
		t.Run(reads, func(t *testing.T) { registerIsAKey(t, reads) })
	}
}

func registerIsAKey(t *testing.T, reads string) {
	kept := &store{keys: map[string]string{}, serializable: reads == "serializable"}
	server := httptest.NewServer(kept)
	defer server.Close()
	_, _, s := etcdWith(t, map[string]string{"reads": reads})
	dial := func(ctx context.Context, port int) (net.Conn, error) {
		require.Equal(t, ClientPort, port)
		return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
	}
	self := etcdMembers()[0]
	var y election.Storer = s

	value, err := y.Get(t.Context(), self, nil, dial)
	require.NoError(t, err)
	require.Zero(t, value, "nothing was written")
	for _, v := range []uint64{1, 1 << 63} {
		require.NoError(t, y.Put(t.Context(), self, nil, v, dial))
		value, err = y.Get(t.Context(), self, nil, dial)
		require.NoError(t, err)
		require.Equal(t, v, value)
	}
	require.Equal(t, map[string]string{
		base64.StdEncoding.EncodeToString([]byte("recount/register")): base64.StdEncoding.EncodeToString([]byte("9223372036854775808")),
	}, kept.keys)

	// What a server answered with an error may have been written for all that.
	kept.fail = `{"error":"etcdserver: request timed out","code":14}`
	err = y.Put(t.Context(), self, nil, 7, dial)
	require.ErrorContains(t, err, "request timed out")
	require.False(t, election.Certain(err))

	// Of a server that nobody can connect to it is certain that it was not.
	err = y.Put(t.Context(), self, nil, 8, func(context.Context, int) (net.Conn, error) { return nil, errors.New("connection refused") })
	require.ErrorContains(t, err, "connection refused")
	require.True(t, election.Certain(err))
}
