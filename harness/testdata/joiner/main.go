// Command joiner is a server whose first node makes the cluster, a second after it was started, and whose others ask the one before them
// whether they may join: who is not let in at once ends.
package main

import (
	"encoding/json"
	"flag"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

func main() {
	id, join, data := flag.String("id", "", ""), flag.String("join", "", ""), flag.String("data", "", "")
	flag.Parse()
	belongs := filepath.Join(*data, "belongs")
	var in atomic.Bool
	http.HandleFunc("/join", func(w http.ResponseWriter, _ *http.Request) {
		if !in.Load() {
			w.WriteHeader(http.StatusConflict)
		}
	})
	http.HandleFunc("/status", func(w http.ResponseWriter, _ *http.Request) {
		role := map[bool]string{true: "leader", false: "follower"}[*join == "" && in.Load()]
		json.NewEncoder(w).Encode(map[string]any{"role": role, "term": 1, "leader": "n1"})
	})
	go func() { log.Fatal(http.ListenAndServe(":8080", nil)) }()
	if _, err := os.Stat(belongs); err != nil && *join != "" {
		answer, err := http.Get("http://" + *join + ":8080/join")
		if err != nil {
			log.Fatal(err)
		}
		if answer.StatusCode != http.StatusOK {
			log.Fatalf("%s was not let in: %s", *id, answer.Status)
		}
	}
	time.Sleep(time.Second)
	if err := os.WriteFile(belongs, nil, 0o644); err != nil {
		log.Fatal(err)
	}
	in.Store(true)
	log.Printf("%s belongs to the cluster", *id)
	select {}
}
