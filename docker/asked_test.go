package docker

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/docker/docker/client"
	"github.com/stretchr/testify/require"
)

// askedEngine is an engine that answers as it is told, and the questions that it was asked, in their order.
func askedEngine(t *testing.T, answer func(w http.ResponseWriter, r *http.Request)) (e *Engine, questions func() []string) {
	t.Helper()
	var mu sync.Mutex
	var all []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = strings.TrimPrefix(r.URL.Path, "/v1.47")
		mu.Lock()
		all = append(all, r.Method+" "+r.URL.RequestURI())
		mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	api, err := client.NewClientWithOpts(client.WithHost("tcp://"+strings.TrimPrefix(server.URL, "http://")), client.WithVersion("1.47"))
	require.NoError(t, err)
	t.Cleanup(func() { api.Close() })
	return &Engine{api: api, patience: patience}, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

// answerJSON is the answer of an engine that has done it.
func answerJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	json.NewEncoder(w).Encode(v)
}
