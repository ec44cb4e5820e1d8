package harness_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"recount/harness"
	"recount/harness/record"
	"recount/report"
)

// A run in simulation, from its plan to its verdicts.
func ExampleRun() {
	results, err := os.MkdirTemp("", "results-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(results)
	scenario, err := harness.LoadScenario("ping-pong")
	if err != nil {
		log.Fatal(err)
	}
	plan := scenario.Plan(record.Plan{Target: "raft-prevote", On: record.OnSim, Seed: 7})
	run, err := harness.Run(context.Background(), plan, harness.Config{Results: results, Repeat: plan.Command()})
	if err != nil {
		log.Fatal(err) // the harness failed: this says nothing about the election
	}
	fmt.Println(run.Status == record.StatusHeld, report.Sentence(run))
	for _, v := range run.Verdicts {
		if v.Promised && !v.Untested {
			fmt.Println(v.Property, v.Verdict)
		}
	}
	// Output:
	// true Every promise that was put to the test held.
	// single-leader-per-term valid
	// monotonic-term valid
	// vote-once valid
	// agreement valid
	// sticky-leader valid
	// no-ping-pong valid
	// stays-up valid
	// elects valid
	// learns-leader valid
}

// Many runs that leave nothing on disk.
func ExampleSimulate() {
	held := 0
	for seed := range uint64(10) {
		plan := record.Plan{Target: "raft-prevote", Faults: []string{"isolate", "kill"}, Seed: seed}
		run, err := harness.Simulate(context.Background(), plan)
		if err != nil {
			log.Fatal(err)
		}
		if run.Status == record.StatusHeld {
			held++
		}
	}
	fmt.Println(held, "of 10")
	// Output: 10 of 10
}
