package linear

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/anishathalye/porcupine"
)

// Ask puts operations to porcupine, all in one part. Where the answer is Unknown, why tells what ended the search.
//
// It ends when ctx does, and never takes more than the memory and time that ctx allows (WithMemory, WithTime). A large
// search waits for others to end.
func Ask(ctx context.Context, m porcupine.Model, ops []porcupine.Operation) (answer porcupine.CheckResult, why string) {
	memory := memoryOf(ctx)
	share := min(small, memory.bytes)
	if answer, why = ask(ctx, m, ops, share); answer == unknown && share < memory.bytes && ctx.Err() == nil {
		memory.mu.Lock()
		defer memory.mu.Unlock()
		answer, why = ask(ctx, m, ops, memory.bytes)
		runtime.GC() // it leaves nothing behind for the next one
	}
	return answer, why
}

// small is the memory that a search may take without asking whether others are under way. A test makes it less.
var small int64 = 16 << 20

// What porcupine keeps. For each operation: two entries, a list of them and the way back. For each step of the search
// that leads to something new: a set of n bits and its place in a table. Measured, and doubled, because the garbage
// collector lets the heap grow to twice of what is in use.
const opCost = 700

func stepCost(n int) int64 { return 2 * (int64(n)/8 + 100) }

// leastCost is what porcupine takes for n operations even if its first guess of an order is right.
func leastCost(n int) int64 { return int64(n) * (opCost + stepCost(n)) }

// ask is porcupine with what it has not got: a bound on memory, and a context that it heeds. Both end the search as soon as
// they are reached. The same search takes the same memory on any machine.
func ask(ctx context.Context, m porcupine.Model, ops []porcupine.Operation, bytes int64) (porcupine.CheckResult, string) {
	if need := leastCost(len(ops)); need > bytes {
		return unknown, fmt.Sprintf("%s that depend on each other need %d MiB to decide, of %d allowed", many(len(ops)), mebi(need), mebi(bytes))
	}
	if ctx.Err() != nil {
		return unknown, late(len(ops))
	}
	m, why := bounded(m, len(ops), bytes, newMeter(ctx).over)
	m, ops, ended := endable(m, ops, why)
	answered := make(chan bool, 1)
	go func() { answered <- porcupine.CheckOperations(m, ops) }()
	select {
	case <-ended:
		return unknown, *why
	case isLegal := <-answered:
		switch {
		case *why != "":
			return unknown, *why
		case isLegal:
			return legal, ""
		}
		return illegal, ""
	}
}

// guard is an operation that stands beside a search, and last is one that comes after all others.
type (
	guard struct{}
	last  struct{}
)

// endable makes a search of one part end as soon as there is a reason why, which is then told by a channel. A search that may
// take no further step still goes all of its way back, which takes it ever so long, unless porcupine ends it itself: it does
// where another part has no order. So there is another one, the guard, which waits for the reason. It has an order if the
// search comes to its last operation: then it has placed all others.
func endable(m porcupine.Model, ops []porcupine.Operation, why *string) (porcupine.Model, []porcupine.Operation, <-chan struct{}) {
	ended, placed := make(chan struct{}), make(chan struct{})
	step, over := m.Step, false
	m.Step, m.StepContext = nil, func(ctx context.Context, state, input, output any) (bool, any) {
		switch input.(type) {
		case guard:
			select {
			case <-ended:
				return false, state
			case <-placed:
			case <-ctx.Done(): // the search has found that there is no order
			}
			return true, state
		case last:
			close(placed)
			return true, state
		}
		ok, to := step(state, input, output)
		if *why != "" && !over {
			over = true
			close(ended)
		}
		return ok, to
	}
	m.Partition = func(all []porcupine.Operation) [][]porcupine.Operation {
		n := len(all) - 1
		return [][]porcupine.Operation{all[:n], all[n:]}
	}
	all := make([]porcupine.Operation, 0, len(ops)+2)
	for _, op := range ops {
		op.Return = min(op.Return, int64(Never)-1) // what never returns comes before the last, too
		all = append(all, op)
	}
	end := porcupine.Operation{Input: last{}, Call: int64(Never), Return: int64(Never)}
	return m, append(all, end, porcupine.Operation{Input: guard{}}), ended
}

// bounded returns a model of one partition that allows no further step once a search through n operations would take
// more memory than allowed, or its time is over. It then says why.
func bounded(m porcupine.Model, n int, bytes int64, over func() bool) (porcupine.Model, *string) {
	left := (bytes - int64(n)*opCost) / stepCost(n)
	steps, why := 0, ""
	step, equal := m.Step, m.Equal
	if equal == nil {
		equal = func(a, b any) bool { return a == b }
	}
	m.Step = func(state, input, output any) (bool, any) {
		if why != "" {
			return false, state
		}
		if steps++; steps%256 == 0 && over() {
			why = late(n)
		}
		ok, to := step(state, input, output)
		if ok {
			if left--; left < 0 {
				why = fmt.Sprintf("the search through %s grew beyond %d MiB", many(n), mebi(bytes))
			}
		}
		return ok, to
	}
	m.Equal = func(a, b any) bool {
		same := equal(a, b)
		if same {
			left++ // known already, so not kept again
		}
		return same
	}
	m.Partition = nil // one partition is one goroutine: step and equal are never called twice at once
	return m, &why
}

// late is why a search through n operations decided nothing, whether it had begun or not.
func late(n int) string {
	return fmt.Sprintf("time ran out before the search through %s had ended", many(n))
}

func mebi(bytes int64) int64 { return (bytes + 1<<20 - 1) >> 20 }

// drawn is how many operations a picture can hold and still be read.
const drawn = 200

// Draw returns porcupine's picture of operations, or nil if they are too many or too hard to decide. Where porcupine finds
// several orders equally good, it chooses at random which one to show first. The picture opens at the first place at which
// no order goes on, with notes beside it.
func Draw(ctx context.Context, m porcupine.Model, ops []porcupine.Operation, notes ...porcupine.Annotation) []byte {
	if !draws(ctx, len(ops)) {
		return nil
	}
	limited, ended := m, new(string)
	if m.Partition == nil { // parts of partitioned models are small, and searched at the same time
		limited, ended = bounded(m, len(ops), small, newMeter(ctx).over)
	}
	_, info := porcupine.CheckOperationsVerbose(limited, ops, 0)
	if *ended != "" {
		return nil
	}
	info.AddAnnotations(notes)
	b := new(bytes.Buffer)
	if err := porcupine.Visualize(m, info, b); err != nil {
		panic(err) // a buffer takes everything, and the data is porcupine's own
	}
	const end, jump = "</body>", "<script>document.querySelector('#jump-link').click()</script>"
	return bytes.Replace(b.Bytes(), []byte(end), []byte(jump+end), 1)
}

// draws tells whether there is to be a picture of so many operations.
func draws(ctx context.Context, n int) bool {
	return n > 0 && n <= drawn && ctx.Value(undrawnKey{}) == nil
}

// ending is the note of a picture at the time at which the last order ended, with the reason.
func ending(at time.Duration, why string) porcupine.Annotation {
	return porcupine.Annotation{
		Tag: "the last order", Start: int64(at), End: int64(at), Description: "ends here", Details: why, BackgroundColor: "#ffb0a0",
	}
}

// DrawFence returns porcupine's picture of accesses, with a note at the one at which the last order died, unless that is nil;
// nil if they cannot be drawn.
func DrawFence(ctx context.Context, all []Access, died *Access, why string) []byte {
	if !draws(ctx, len(all)) {
		return nil
	}
	var notes []porcupine.Annotation
	if died != nil {
		notes = append(notes, ending(died.Return, why))
	}
	return Draw(ctx, FenceModel, Operations(all), notes...)
}
