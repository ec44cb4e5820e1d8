package harness

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
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
		`spec: observe n1: leader "c3" is none of the nodes; the answer is `+"`{\"me\":\"a1\",\"role\":\"follower\",\"lead\":\"c3\"}`; "+
		`no node has called itself so yet: is id the right field? Where it says that nobody leads, tell so by leader: {nobody: ["c3"]}.`, u.words())
	u.Observe("n3", func(v history.View, err error) {
		require.NoError(t, err)
		require.Equal(t, history.View{Role: history.Leader, Leader: "n3"}, v)
	})
	require.Empty(t, u.words(), "its owner has told it")
}

// A line that names a leader by an id which nobody has told yet ends what its node was before, and is told unless its owner tells it.
func TestLinesThatNameIdsToldLater(t *testing.T) {
	spec, err := specfile.Parse("mine.yaml", []byte(`image: a
times: {silence: 1s}
observe:
  id: {log: 'my id is (?P<id>\w+)'}
  logs:
    standing: true
    lines:
      - {match: 'I lead in term (?P<term>\d+)', role: leader}
      - {match: '(?P<leader>\w+) leads in term (?P<term>\d+)', role: follower}
`))
	require.NoError(t, err)
	options, err := spec.Target("mine").Parse(nil)
	require.NoError(t, err)
	system, err := spec.System(options)
	require.NoError(t, err)
	var u unreadLines
	u.of(system)
	all := []election.Member{{ID: 1, Name: "n1"}, {ID: 2, Name: "n2"}, {ID: 3, Name: "n3"}}
	said := map[string][]history.View{}
	write := map[string]func(string){}
	for _, m := range all {
		require.NoError(t, system.Observer(m, all, nil).Close())
		write[m.Name] = readLog(system, m.ID, func(v history.View) { said[m.Name] = append(said[m.Name], v) }, nil, nil)
	}
	write["n1"]("I lead in term 3")
	write["n1"]("c3 leads in term 4")
	write["n2"]("c3 leads in term 4")
	require.Equal(t, []history.View{{Role: history.Leader, Term: 3, Leader: "n1"}, {Role: history.UnknownRole, Term: 4}}, said["n1"])
	require.Equal(t, "Lines of logs that name a leader whose id no node told: 1 of n1, 1 of n2. The first: "+
		`leader "c3" is none of the nodes; the line is `+"`c3 leads in term 4`"+`; no node has called itself so yet: is id the right field? Where it says that nobody leads, tell so by leader: {nobody: ["c3"]}.`, u.words())
	write["n3"]("my id is c3")
	require.Empty(t, u.words())
	write["n2"]("c3 leads in term 4")
	require.Equal(t, history.View{Role: history.Follower, Term: 4, Leader: "n3"}, said["n2"][1])

	write["n2"]("my id is c3")
	require.True(t, strings.HasPrefix(u.words(), `Lines of logs that could not be read: 1 of n2. The first: n3 and n2 both call themselves "c3"; the line is `+"`my id is c3`"), u.words())
}
