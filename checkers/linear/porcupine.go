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

// small is the memory that a search may take without asking whether others are under way.
const small = 16 << 20

// What porcupine keeps. For each operation: two entries, a list of them and the way back. For each step of the search
// that leads to something new: a set of n bits and its place in a table. Measured, and doubled, because the garbage
// collector lets the heap grow to twice of what is in use.
const opCost = 700

func stepCost(n int) int64 { return 2 * (int64(n)/8 + 100) }

// ask is porcupine with what it has not got: a bound on memory, and a context that it heeds. Both end the search as soon as
// they are reached. The same search takes the same memory on any machine.
func ask(ctx context.Context, m porcupine.Model, ops []porcupine.Operation, bytes int64) (porcupine.CheckResult, string) {
	if need := int64(len(ops)) * (opCost + stepCost(len(ops))); need > bytes {
		return unknown, fmt.Sprintf("%s that depend on each other need %d MiB to decide, of %d allowed", many(len(ops)), mebi(need), mebi(bytes))
	}
	if ctx.Err() != nil {
		return unknown, late(len(ops))
	}
	m, why := bounded(m, len(ops), bytes, newMeter(ctx).over)
	// A search that may take no further step still goes all of its way back, which takes it ever so long. So its goroutine,
	// which is porcupine's own, ends there and then. The one that waits for it goes when porcupine's own limit is reached.
	ended, answered := make(chan struct{}), make(chan porcupine.CheckResult, 1)
	step := m.Step
	m.Step = func(state, input, output any) (bool, any) {
		ok, to := step(state, input, output)
		if *why != "" {
			close(ended)
			runtime.Goexit()
		}
		return ok, to
	}
	go func() { answered <- porcupine.CheckOperationsTimeout(m, ops, longest) }()
	select {
	case <-ended:
		return unknown, *why
	case answer := <-answered:
		if answer == unknown {
			return unknown, late(len(ops))
		}
		return answer, ""
	}
}

// longest is more than anybody waits for a search.
const longest = time.Hour

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
	if len(ops) == 0 || len(ops) > drawn {
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
