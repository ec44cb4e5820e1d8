package docker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/docker/recipes"
	"recount/election"
	"recount/history"
	"recount/internal/testlong"
	"recount/targets"
)

// Etcd lives on disks that fail: what it has acknowledged is there after its machines died all at once, after a full disk
// and after slow and failing ones.
func TestEtcdOnDisksThatFail(t *testing.T) {
	testlong.Only(t)
	c := onDisksOf(t, "etcd", 3)
	c.onExit = func(node string, code int) { t.Logf("%s ended by itself with status %d", node, code) }
	acked := map[string]string{}
	next := 0
	put := func(n int, size int) {
		for ; n > 0; n-- {
			next++
			key, value := fmt.Sprintf("k%04d", next), strings.Repeat(fmt.Sprint(next%10), size)
			run(t, c.Cluster, func() bool { return c.put(key, value) })
			acked[key] = value
		}
	}
	put(20, 100)
	requireSeen(t, c.Cluster, history.Changes{Procs: []history.Proc{
		{Node: "n1", State: history.Crashed}, {Node: "n2", State: history.Crashed}, {Node: "n3", State: history.Crashed},
	}})
	requireSeen(t, c.Cluster, history.Changes{Procs: []history.Proc{
		{Node: "n1", State: history.Up}, {Node: "n2", State: history.Up}, {Node: "n3", State: history.Up},
	}})
	put(20, 100)
	requireSeen(t, c.Cluster, disks("n2", history.DiskState{Slow: 50 * time.Millisecond}))
	put(10, 100)
	requireSeen(t, c.Cluster, disks("n2", history.DiskState{}))
	for _, bad := range []history.DiskState{{Full: true}, {SyncErrors: 1}} {
		requireSeen(t, c.Cluster, disks("n1", bad))
		put(60, 400_000) // more than it has room for
		requireSeen(t, c.Cluster, healed("n1"))
		put(5, 100)
	}
	for node := range c.nodes { // each by itself: what its own disk holds
		run(t, c.Cluster, func() bool {
			for key, value := range acked {
				if got, ok := c.get(node, key); !ok || got != value {
					return false // it may have to catch up
				}
			}
			return true
		})
	}
	requireState(t, c.Cluster, history.Changes{})
}

// etcds is a cluster of etcd servers.
type etcds struct {
	*Cluster
	clients map[string]*http.Client
}

// onDisksOf launches a real system on disks that can fail.
func onDisksOf(t *testing.T, name string, n int) *etcds {
	target, err := targets.Find(name)
	require.NoError(t, err)
	o, err := target.Parse(nil)
	require.NoError(t, err)
	system, err := target.System(o)
	require.NoError(t, err)
	e := engine(t)
	ref := recipes.Ref(system.Image())
	has, err := e.HasImage(t.Context(), ref)
	require.NoError(t, err)
	if !has {
		root, _, err := recipes.Build(t.Context(), system.Image(), func(s string) { t.Log(s) })
		require.NoError(t, err)
		defer root.Close()
		require.NoError(t, e.importImage(t.Context(), ref, root))
	}
	c := open(t, e, runID(t), n, func(c *Config) { c.Disks = true })
	var members []election.Member
	for i, node := range c.names {
		members = append(members, election.Member{ID: election.ID(i + 1), Name: node, Addr: c.Addr(node)})
	}
	what, clients := map[string]Container{}, map[string]*http.Client{}
	for i, node := range c.names {
		is := system.Container(members[i], members)
		what[node] = Container{Image: ref, Command: is.Command, Env: is.Env, Data: is.Data}
		clients[node] = &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return c.Dial(ctx, node, 2379) },
		}}
	}
	require.NoError(t, c.Launch(t.Context(), what))
	return &etcds{c, clients}
}

// ask sends one request to a node and decodes the answer.
func (c *etcds) ask(node, path string, question map[string]any, answer any) bool {
	b, err := json.Marshal(question)
	if err != nil {
		return false
	}
	r, err := c.clients[node].Post("http://"+node+path, "application/json", bytes.NewReader(b))
	if err != nil {
		return false
	}
	defer r.Body.Close()
	return r.StatusCode == http.StatusOK && json.NewDecoder(r.Body).Decode(answer) == nil
}

// put writes a key through whichever node takes it.
func (c *etcds) put(key, value string) bool {
	for _, node := range c.names {
		if c.ask(node, "/v3/kv/put", map[string]any{"key": []byte(key), "value": []byte(value)}, &struct{}{}) {
			return true
		}
	}
	return false
}

// get reads a key from what one node has itself.
func (c *etcds) get(node, key string) (value string, ok bool) {
	var answer struct{ KVs []struct{ Value []byte } }
	if !c.ask(node, "/v3/kv/range", map[string]any{"key": []byte(key), "serializable": true}, &answer) || len(answer.KVs) != 1 {
		return "", false
	}
	return string(answer.KVs[0].Value), true
}
