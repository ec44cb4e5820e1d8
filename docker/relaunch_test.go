package docker

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/stretchr/testify/require"

	"recount/docker/agent"
)

// asNode is a cluster of one node that was launched and is down.
func asNode(e *Engine, disks bool) (*Cluster, *node) {
	over := make(chan struct{})
	close(over)
	n := &node{name: "n1", anchor: "anchor", containers: []string{"first", "beside"}, life: &life{over: over}}
	return &Cluster{engine: e, config: Config{Run: "r", Disks: disks}, labels: map[string]string{}, nodes: map[string]*node{"n1": n}}, n
}

// Of containers that a node was to get, and of which one could not be made, the others are in the way of the next try.
func TestWhatIsHalfRelaunchedIsRemoved(t *testing.T) {
	refuse := true
	e, questions := askedEngine(t, func(w http.ResponseWriter, r *http.Request) {
		name := r.URL.Query().Get("name")
		switch {
		case r.Method == http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
		case refuse && strings.Contains(name, "sidecar"):
			http.Error(w, `{"message":"no"}`, http.StatusInternalServerError)
		default:
			answerJSON(w, map[string]string{"Id": "id-of-" + name})
		}
	})
	c, n := asNode(e, false)
	what := Container{Image: "i", Sidecars: []Container{{Image: "j"}}}
	require.ErrorContains(t, c.relaunch(t.Context(), n, what), "give n1 other containers: create container recount-r-n1-sidecar-1-member-2")
	require.Equal(t, []string{"first", "beside"}, n.containers)
	require.Empty(t, n.earlier)
	require.True(t, slices.ContainsFunc(questions(), func(q string) bool {
		return q == "DELETE /containers/id-of-recount-r-n1-member-2?force=1&v=1"
	}), "%v", questions())

	refuse = false
	require.NoError(t, c.relaunch(t.Context(), n, what))
	require.Equal(t, []string{"id-of-recount-r-n1-member-2", "id-of-recount-r-n1-sidecar-1-member-2"}, n.containers)
}

// A node that gets its first data with its second containers has it on a disk that can fail, as if it had had it before.
func TestTheVolumeOfARelaunchedNodeIsItsOwn(t *testing.T) {
	var mounts []mount.Mount
	e, questions := askedEngine(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/containers/create" {
			var of struct{ HostConfig container.HostConfig }
			json.NewDecoder(r.Body).Decode(&of)
			mounts = of.HostConfig.Mounts
		}
		answerJSON(w, map[string]string{"Id": "one", "Mountpoint": "/volumes/" + r.URL.Path})
	})
	c, n := asNode(e, true)
	remote, server := lineTo(t)
	c.remote = remote
	require.NoError(t, c.remote.open())
	asked := make(chan agent.Request, 1)
	go func() {
		control, err := server.AcceptStream()
		lines := agent.Lines(control)
		for err == nil && lines.Scan() {
			var q agent.Request
			if err = json.Unmarshal(lines.Bytes(), &q); err == nil && q.ID > 0 {
				asked <- q
				err = agent.WriteLine(control, agent.Reply{ID: q.ID})
			}
		}
	}()
	require.NoError(t, c.relaunch(t.Context(), n, Container{Image: "i", Data: "/data", Own: "/own"}))
	require.Equal(t, []mount.Mount{
		{Type: mount.TypeVolume, Source: "recount-r-n1", Target: "/data"}, {Type: mount.TypeVolume, Source: "recount-r-n1-own", Target: "/own"},
	}, mounts)
	require.Equal(t, "/volumes//volumes/recount-r-n1", (<-asked).Attach.Path, "%v", questions())
	require.True(t, n.onDisk)
}

// Logs may be read while a node gets other containers. Each is read once, whatever sidecars there were in which life.
func TestLogsAreReadDuringARelaunch(t *testing.T) {
	e, _ := askedEngine(t, func(w http.ResponseWriter, r *http.Request) {
		answerJSON(w, map[string]string{"Id": r.URL.Query().Get("name")})
	})
	c, n := asNode(e, false)
	done := make(chan error)
	go func() { done <- c.relaunch(t.Context(), n, Container{Image: "i"}) }()
	for begun := true; begun; {
		select {
		case err := <-done:
			require.NoError(t, err)
			begun = false
		default:
			require.Contains(t, []string{"first", "first recount-r-n1-member-2"}, strings.Join(c.places(n)[0], " "))
		}
	}
	require.Equal(t, [][]string{{"first", "recount-r-n1-member-2"}, {"beside"}}, c.places(n))
}
