// Command sealed is a server that does nothing after each start before it was opened by a key, which n1 draws when it is first asked. The
// others take the first that they are given. It says nothing while it was told not to, and ends, or says that something is wrong with it, when it is told so.
package main

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

const file = "/data/key"

func main() {
	lasts, err := time.ParseDuration(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	time.AfterFunc(lasts, func() { log.Fatal("FATAL: it is worn out") })
	var open atomic.Bool
	http.HandleFunc("POST /init", func(w http.ResponseWriter, _ *http.Request) {
		if _, err := os.Stat(file); err == nil {
			w.WriteHeader(http.StatusConflict)
			return
		}
		key := rand.Text()
		if err := os.WriteFile(file, []byte(key), 0o600); err != nil {
			log.Fatal(err)
		}
		json.NewEncoder(w).Encode(map[string]string{"key": key})
	})
	http.HandleFunc("POST /open", func(w http.ResponseWriter, r *http.Request) {
		given, _ := io.ReadAll(r.Body)
		key, err := os.ReadFile(file)
		if err != nil {
			key, err = given, os.WriteFile(file, given, 0o600)
		}
		if err != nil || string(key) != string(given) {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		open.Store(true)
	})
	var mute atomic.Bool
	http.HandleFunc("POST /mute", func(http.ResponseWriter, *http.Request) { mute.Store(true) })
	http.HandleFunc("POST /speak", func(w http.ResponseWriter, _ *http.Request) {
		if !mute.CompareAndSwap(true, false) {
			w.WriteHeader(http.StatusConflict)
		}
	})
	http.HandleFunc("POST /end", func(http.ResponseWriter, *http.Request) {
		time.AfterFunc(100*time.Millisecond, func() { os.Exit(3) })
	})
	http.HandleFunc("POST /cry", func(http.ResponseWriter, *http.Request) {
		log.Print("assertion failed: cried")
		log.Print("assertion failed: cried again")
		time.AfterFunc(300*time.Millisecond, func() { log.Printf("assertion failed: \t%s", strings.Repeat("x", 1000)) })
	})
	http.HandleFunc("GET /status", func(w http.ResponseWriter, r *http.Request) {
		key, err := os.ReadFile(file)
		if mute.Load() || !open.Load() || err != nil || r.Header.Get("X-Key") != string(key) {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		role := map[bool]string{true: "leader", false: "follower"}[os.Args[1] == "n1"]
		json.NewEncoder(w).Encode(map[string]any{"role": role, "term": 1, "leader": "n1"})
	})
	log.Fatal(http.ListenAndServe(":8080", nil))
}
