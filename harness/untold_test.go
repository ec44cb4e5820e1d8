package harness

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/history"
	"recount/targets/specfile"
)

// drawn is a cluster whose nodes have drawn their ids at random.
type drawn struct {
	Cluster
	nodes map[string]*systemNode
}

func (d *drawn) Now() time.Duration { return 0 }

func (d *drawn) Observe(node string, done func(history.View, error)) {
	done(d.nodes[node].View(context.Background()))
}

// Until the leader has been asked nobody knows what it is called. That is no fault of a node's, unless it lasts.
func TestIdsThatAreToldLater(t *testing.T) {
	spec, err := specfile.Parse("mine.yaml", []byte("image: a\nports: {http: 80}\ntimes: {silence: 1s}\nobserve: {http: /, id: {at: me}, role: role, leader: lead}\n"))
	require.NoError(t, err)
	options, err := spec.Target("mine").Parse(nil)
	require.NoError(t, err)
	system, err := spec.System(options)
	require.NoError(t, err)
	all := []election.Member{{ID: 1, Name: "n1"}, {ID: 2, Name: "n2"}, {ID: 3, Name: "n3"}}
	d := &drawn{nodes: map[string]*systemNode{}}
	for i, text := range []string{`{"me":"a1","role":"follower","lead":"c3"}`, `{"me":"b2","role":"follower","lead":"c3"}`, `{"me":"c3","role":"leader","lead":"c3"}`} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }))
		defer server.Close()
		observer := system.Observer(all[i], all, func(context.Context, int) (net.Conn, error) { return net.Dial("tcp", server.Listener.Addr().String()) })
		d.nodes[all[i].Name] = &systemNode{Observer: observer}
	}
	u := countUnread(d, history.Bounds{Poll: 50 * time.Millisecond}, true)
	var last error
	for _, node := range []string{"n1", "n2", "n2"} {
		u.Observe(node, func(_ history.View, err error) { last = err })
		require.Error(t, last, "a view without a leader would tell that it knows of none")
	}
	require.Equal(t, "Answers that name a leader whose id no node told: 1 of n1, 2 of n2. The first: "+
		`spec: observe n1: leader "c3" is none of the nodes; the answer is "{\"me\":\"a1\",\"role\":\"follower\",\"lead\":\"c3\"}"; `+
		"no node has called itself so yet: is id the right field?.", u.words())
	u.Observe("n3", func(v history.View, err error) {
		require.NoError(t, err)
		require.Equal(t, history.View{Role: history.Leader, Leader: "n3"}, v)
	})
	require.Empty(t, u.words(), "its owner has told it")
}
