package docker

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Where nodes are launched one after the other, all are asked meanwhile: a node has all of its containers, or none yet.
func TestNodesAreAskedDuringALaunch(t *testing.T) {
	more := make(chan struct{})
	e, _ := askedEngine(t, func(w http.ResponseWriter, r *http.Request) {
		name := r.URL.Query().Get("name")
		if strings.Contains(name, "sidecar") {
			<-more
		}
		answerJSON(w, map[string]string{"Id": name})
	})
	release := sync.OnceFunc(func() { close(more) })
	t.Cleanup(release) // before the engine, which waits for what it was asked
	c, n := asNode(e, false)
	n.containers = nil
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the containers are made, and not started
	done := make(chan error, 1)
	go func() {
		done <- c.Launch(ctx, map[string]Container{"n1": {Image: "i", Sidecars: []Container{{Image: "j"}}}})
	}()
	for range 100 {
		require.Empty(t, c.container(n))
		require.Empty(t, c.places(n))
		time.Sleep(time.Millisecond)
	}
	release()
	require.ErrorIs(t, <-done, context.Canceled)
	require.Equal(t, [][]string{{"recount-r-n1"}, {"recount-r-n1-sidecar-1"}}, c.places(n))
}
