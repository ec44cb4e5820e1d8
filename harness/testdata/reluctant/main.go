// Command reluctant is a server that does not always start: it may refuse even numbers of nodes, and of some seeds it is never ready. Or
// it ends by itself when it is asked for long enough. Who has been started before takes itself for the leader.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

func main() {
	id, data := flag.String("id", "", ""), flag.String("data", "", "")
	nodes, odd, stuck := flag.Int("nodes", 0, ""), flag.Bool("odd", false, ""), flag.Int("stuck", 0, "")
	ends := flag.Bool("ends", false, "")
	flag.Parse()
	if *odd && *nodes%2 == 0 {
		fmt.Println("only odd numbers of nodes are supported")
		os.Exit(3)
	}
	before := filepath.Join(*data, "before")
	_, err := os.Stat(before)
	again := err == nil
	if !again && *id == "n2" && rand.IntN(100) < *stuck {
		log.Print("waits for an answer that never comes")
		select {}
	}
	if err := os.WriteFile(before, nil, 0o644); err != nil {
		log.Fatal(err)
	}
	role := "follower"
	if again || *id == "n1" {
		role = "leader"
	}
	if *ends && *id == "n2" {
		time.AfterFunc(5*time.Second, func() {
			fmt.Println("fatal error: enough was asked")
			os.Exit(1)
		})
	}
	http.HandleFunc("/status", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(map[string]any{"role": role, "term": 1})
	})
	log.Fatal(http.ListenAndServe(":8080", nil))
}
