// Command hunter makes one hunt of an election of targets/algorithms, as "recount hunt --target T" does with its defaults, on
// one core and for so much processor time, and prints what it came to as JSON; or a matrix, as "recount matrix --targets T" does,
// until a promise breaks. tools/planted builds it with a bug in it.
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
	"recount/harness/matrix"
	"recount/harness/record"
	"recount/targets"
	_ "recount/targets/algorithms"
	_ "recount/targets/algorithms/etcdraft"
)

func main() {
	target := flag.String("target", "raft", "the election")
	seed := flag.Uint64("seed", 1, "decides all that is drawn")
	limit := flag.Duration("cpu", time.Minute, "processor time")
	seeds := flag.Int("matrix", 0, "make a matrix instead, of so many seeds")
	flag.Parse()
	batch.SpareCollections()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	if *seeds > 0 {
		measured(ctx, *target, *seeds)
		return
	}
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
	end(err)
	out := map[string]any{"seed": *seed, "property": "", "run": r.Runs}
	if len(r.Findings) > 0 {
		f := &r.Findings[0]
		out["property"], out["run"], out["why"], out["plan"] = f.Property, f.Run, f.Why, f.Plan
	}
	tell(out)
}

// measured makes a matrix of an election, seed by seed, and prints the first that breaks a promise.
func measured(ctx context.Context, target string, seeds int) {
	rows, err := matrix.ParseRows([]string{target}, record.OnSim)
	end(err)
	plan, err := matrix.Default(rows)
	end(err)
	plan.Seeds, plan.Jobs = 1, 1
	for plan.First = 1; plan.First <= uint64(seeds); plan.First++ {
		t, err := matrix.Measure(ctx, plan, func(batch.Progress) {})
		end(err)
		if broken := t.Findings(matrix.Broken); len(broken) > 0 {
			f := &broken[0]
			tell(map[string]any{"property": f.Property, "run": plan.First, "why": f.Cell.Why, "command": f.Cell.Command})
			return
		}
	}
	tell(map[string]any{"property": "", "run": seeds})
}

// tell prints what was found.
func tell(out map[string]any) {
	out["cpu"] = used().Seconds()
	_ = json.NewEncoder(os.Stdout).Encode(out)
}

// end ends the program if there is an error.
func end(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "hunter:", err)
		os.Exit(1)
	}
}

// used is the processor time that this process has taken.
func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
