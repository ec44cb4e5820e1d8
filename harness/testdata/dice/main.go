// Command dice is a server that tells all that Go's library measures of itself, and whose runs in virtual time differ if it
// throws dice: it asks the processor for the time, past the library.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// tsc is the processor's counter of cycles.
func tsc() uint64

func main() {
	id := flag.String("id", "", "")
	dice := flag.Bool("dice", false, "")
	tells := flag.Bool("tells", false, "")
	flag.Parse()
	if *dice && *id == "n2" {
		go func() {
			for {
				time.Sleep(time.Second + time.Duration(tsc()%1_000_000))
			}
		}()
	}
	role := "follower"
	if *id == "n1" {
		role = "leader"
	}
	http.HandleFunc("/status", func(w http.ResponseWriter, _ *http.Request) {
		thrown := uint64(0)
		if *tells && *id == "n2" {
			thrown = tsc()
		}
		json.NewEncoder(w).Encode(map[string]any{"role": role, "term": 1, "leader": "n1", "measured": measured(), "thrown": fmt.Sprintf("%20d", thrown)})
	})
	log.Fatal(http.ListenAndServe(":8080", nil))
}

// measured is what servers tell of themselves to those who watch them.
func measured() []any {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	var collections debug.GCStats
	debug.ReadGCStats(&collections)
	var samples []metrics.Sample
	for _, d := range metrics.All() {
		samples = append(samples, metrics.Sample{Name: d.Name})
	}
	metrics.Read(samples)
	var told []string
	for _, s := range samples {
		told = append(told, fmt.Sprint(s.Name, s.Value))
		if s.Value.Kind() == metrics.KindFloat64Histogram {
			told = append(told, fmt.Sprint(s.Value.Float64Histogram().Counts))
		}
	}
	threads, _ := runtime.ThreadCreateProfile(nil)
	return []any{memory, collections, told, string(debug.Stack()), os.Getpid(), threads}
}
