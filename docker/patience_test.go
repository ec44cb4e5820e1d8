package docker

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/internal/hint"
)

// Some engines answer some questions, and others never.
func TestAnEngineThatHangsOverAContainer(t *testing.T) {
	e, _ := askedEngine(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	e.patience = 10 * time.Millisecond
	_, err := e.Open(t.Context(), Config{Run: runID(t), Nodes: []string{"n1"}, SelfImage: "none"})
	require.ErrorContains(t, err, "open the cluster of containers: create container recount-")
	require.ErrorContains(t, err, "the Docker engine does not answer")
	require.Contains(t, hint.Of(err), "restart it")

	_, err = e.Extract(t.Context(), "image", map[string]string{"/a": "/b"})
	require.ErrorContains(t, err, "the Docker engine does not answer")
}
