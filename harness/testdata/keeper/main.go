// Command keeper is a server whose n1 leads for ever and keeps a number. The others answer who reads it by asking n1, or, where
// the question says so, from a copy of theirs that is old.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"sync/atomic"
	"time"
)

func main() {
	leader, name := flag.String("leader", "", "where n1 listens; nothing for n1"), flag.String("name", "", "whose status it tells: its own")
	flag.Parse()
	var number atomic.Pointer[string]
	number.Store(new(string))
	ask := func() (string, error) {
		resp, err := http.Get(*leader)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		return string(text), err
	}
	http.HandleFunc("GET /nodes/"+*name+"/status", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"leader": "n1"}`) })
	http.HandleFunc("GET /x", func(w http.ResponseWriter, r *http.Request) {
		text := *number.Load()
		if *leader != "" && r.FormValue("reads") != "copy" {
			var err error
			if text, err = ask(); err != nil {
				http.Error(w, err.Error(), http.StatusBadGateway)
				return
			}
		}
		fmt.Fprint(w, text)
	})
	http.HandleFunc("PUT /x/{value}", func(w http.ResponseWriter, r *http.Request) {
		if *leader != "" {
			http.Redirect(w, r, *leader, http.StatusTemporaryRedirect)
			return
		}
		text := r.PathValue("value")
		number.Store(&text)
	})
	go func() {
		for *leader != "" {
			if text, err := ask(); err == nil {
				number.Store(&text)
			}
			time.Sleep(300 * time.Millisecond)
		}
	}()
	log.Fatal(http.ListenAndServe(":80", nil))
}
