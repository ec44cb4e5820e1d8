package checkers

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"
)

// budget is how much memory one question may take.
const budget = 1 << 30

// ask puts operations to porcupine, all in one partition. Where the answer is Unknown, why tells what ended the search.
func ask(ctx context.Context, m porcupine.Model, ops []porcupine.Operation) (porcupine.CheckResult, string) {
	return search(ctx, m, ops, budget)
}

// stepCost is what porcupine keeps for one step of a search through n operations: a set of n bits and its place in a
// table.
func stepCost(n int) int64 { return int64(n)/8 + 160 }

// search is porcupine with what it has not got: a bound on memory, and a context that it heeds. Both end the search by
// allowing no further step.
func search(
	ctx context.Context, m porcupine.Model, ops []porcupine.Operation, budget int64,
) (answer porcupine.CheckResult, why string) {
	if need := int64(len(ops)) * stepCost(len(ops)); need > budget {
		return porcupine.Unknown,
			fmt.Sprintf("%d operations that depend on each other need more than %d MiB to decide", len(ops), budget>>20)
	}
	steps, most := int64(0), budget/stepCost(len(ops))
	step := m.Step
	m.Step = func(state, input, output any) (bool, any) {
		if why != "" {
			return false, state
		}
		if steps++; steps > most {
			why = fmt.Sprintf("the search through %d operations grew beyond %d MiB", len(ops), budget>>20)
		} else if steps%256 == 1 && ctx.Err() != nil {
			why = fmt.Sprintf("time ran out in the search through %d operations", len(ops))
		}
		return step(state, input, output)
	}
	m.Partition = nil // one partition is one goroutine: step is never called twice at once
	if porcupine.CheckOperations(m, ops) {
		answer = porcupine.Ok
	} else {
		answer = porcupine.Illegal
	}
	if why != "" {
		return porcupine.Unknown, why
	}
	return answer, ""
}

// drawn is how many operations a picture can hold and still be read.
const drawn = 200

// draw returns porcupine's picture of operations, or nil if they are too many. Where porcupine finds several orders
// equally good, it chooses at random which one to show first.
func draw(m porcupine.Model, ops []porcupine.Operation) []byte {
	if len(ops) == 0 || len(ops) > drawn {
		return nil
	}
	answer, info := porcupine.CheckOperationsVerbose(m, ops, time.Second)
	if answer == porcupine.Unknown {
		return nil
	}
	b := new(bytes.Buffer)
	if err := porcupine.Visualize(m, info, b); err != nil {
		panic(err) // a buffer takes everything, and the data is porcupine's own
	}
	return b.Bytes()
}
