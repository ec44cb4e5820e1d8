// Command unformed is a server that is of no cluster until it is told so: the first node by itself, and then of each other, which is told
// by it. Each takes that once.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"sync/atomic"
)

func main() {
	var belongs, leads atomic.Bool
	once := func(w http.ResponseWriter) bool {
		if belongs.Swap(true) {
			w.WriteHeader(http.StatusConflict)
			return false
		}
		return true
	}
	http.HandleFunc("POST /form", func(w http.ResponseWriter, _ *http.Request) {
		if once(w) {
			leads.Store(true)
		}
	})
	http.HandleFunc("POST /joined", func(w http.ResponseWriter, _ *http.Request) { once(w) })
	http.HandleFunc("POST /add", func(w http.ResponseWriter, r *http.Request) {
		if !leads.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		answer, err := http.Post(fmt.Sprintf("http://%s:8080/joined", r.URL.Query().Get("addr")), "", nil)
		if err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		defer answer.Body.Close()
		w.WriteHeader(answer.StatusCode)
	})
	http.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		if !belongs.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		role := map[bool]string{true: "leader", false: "follower"}[leads.Load()]
		json.NewEncoder(w).Encode(map[string]any{"role": role, "term": 1, "leader": "n1"})
	})
	log.Fatal(http.ListenAndServe(":8080", nil))
}
