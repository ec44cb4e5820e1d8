// Command hunter makes one hunt of an election of targets/algorithms, as "recount hunt --target T" does with its defaults, on
// one core and for so much processor time, and prints what it came to as JSON. tools/planted builds it with a bug in it.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"syscall"
	"time"

	"recount/harness/batch"
	"recount/harness/hunt"
	"recount/harness/record"
	"recount/targets"
	_ "recount/targets/algorithms"
	_ "recount/targets/algorithms/etcdraft"
)

func main() {
	target := flag.String("target", "raft", "the election")
	seed := flag.Uint64("seed", 1, "decides all that is drawn")
	limit := flag.Duration("cpu", time.Minute, "processor time")
	flag.Parse()
	batch.SpareCollections()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	cfg := hunt.Config{
		Target: *target, On: record.OnSim, Seed: *seed, Jobs: 1,
		Faults: hunt.Faults(*target, record.OnSim),
		Progress: func(hunt.Progress) {
			if used() > *limit {
				stop()
			}
		},
	}
	t, err := targets.Find(*target)
	if err == nil {
		cfg.Sometimes = hunt.Workloads(t)
	}
	r, err := hunt.Hunt(ctx, cfg)
	if err != nil {
		fmt.Fprintln(os.Stderr, "hunter:", err)
		os.Exit(1)
	}
	out := map[string]any{"seed": *seed, "property": "", "run": r.Runs, "cpu": used().Seconds()}
	if len(r.Findings) > 0 {
		f := &r.Findings[0]
		out["property"], out["run"], out["why"], out["plan"] = f.Property, f.Run, f.Why, f.Plan
	}
	_ = json.NewEncoder(os.Stdout).Encode(out)
}

// used is the processor time that this process has taken.
func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
