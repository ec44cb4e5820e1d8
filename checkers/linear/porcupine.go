package linear

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/anishathalye/porcupine"
)

// Decision is what became of a question that was put to porcupine in several parts.
type Decision struct {
	porcupine.CheckResult
	part int    // Illegal: the first part found to have no order. Unknown: the first that was not decided
	Why  string // Unknown: what ended the search
}

// Ask puts operations to porcupine, all in one part. Where the answer is Unknown, why tells what ended the search.
func Ask(ctx context.Context, m porcupine.Model, ops []porcupine.Operation) (porcupine.CheckResult, string) {
	a := decide(ctx, m, [][]porcupine.Operation{ops})
	return a.CheckResult, a.Why
}

// small is the memory that a search may take without asking whether others are under way.
const small = 16 << 20

// decide puts operations to porcupine in parts that depend on nothing but themselves: all of them are legal if and only
// if each part is. It ends when ctx does, and never takes more than the memory that ctx allows (WithMemory).
//
// What was found counts, whatever else was not finished: one illegal part makes the whole illegal. The answer does not
// depend on the number of cores: parts are searched side by side with little memory each; those that it is too little for
// are searched again one by one, all searches of this kind waiting for each other, with all the memory there is.
func decide(ctx context.Context, m porcupine.Model, parts [][]porcupine.Operation) Decision {
	memory := memoryOf(ctx)
	share := min(small, memory.bytes)
	found := make([]Decision, len(parts))
	var next, illegal atomic.Int64 // illegal is the first part known to be; those behind it matter no more
	illegal.Store(int64(len(parts)))
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(parts)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < illegal.Load(); i = next.Add(1) - 1 {
				found[i] = search(ctx, m, parts[i], share, func() bool { return illegal.Load() < i })
				for known := illegal.Load(); found[i].CheckResult == porcupine.Illegal && i < known; known = illegal.Load() {
					illegal.CompareAndSwap(known, i)
				}
			}
		})
	}
	wg.Wait()
	if i := int(illegal.Load()); i < len(parts) {
		return Decision{CheckResult: porcupine.Illegal, part: i}
	}
	sum := Decision{CheckResult: porcupine.Ok}
	for i := range found {
		if found[i].CheckResult == porcupine.Unknown && share < memory.bytes {
			found[i] = memory.alone(ctx, func() Decision { return search(ctx, m, parts[i], memory.bytes, nil) })
		}
		switch found[i].CheckResult {
		case porcupine.Illegal:
			return Decision{CheckResult: porcupine.Illegal, part: i}
		case porcupine.Unknown:
			if sum.CheckResult == porcupine.Ok {
				sum = Decision{porcupine.Unknown, i, found[i].Why}
			}
		}
	}
	return sum
}

// What porcupine keeps. For each operation: two entries, a list of them and the way back. For each step of the search
// that leads to something new: a set of n bits and its place in a table. Measured, and doubled, because the garbage
// collector lets the heap grow to twice of what is in use.
const opCost = 700

func stepCost(n int) int64 { return 2 * (int64(n)/8 + 100) }

// search is porcupine with what it has not got: a bound on memory, and a context that it heeds. Both end the search by
// allowing no further step; so does moot, which may be nil, once it is true. The same search takes the same memory on
// any machine.
func search(ctx context.Context, m porcupine.Model, ops []porcupine.Operation, bytes int64, moot func() bool) Decision {
	if need := int64(len(ops)) * (opCost + stepCost(len(ops))); need > bytes {
		return Decision{CheckResult: porcupine.Unknown, Why: fmt.Sprintf(
			"%d operations that depend on each other need %d MiB to decide, of %d allowed", len(ops), mebi(need), mebi(bytes))}
	}
	if ctx.Err() != nil {
		return Decision{CheckResult: porcupine.Unknown, Why: late(len(ops))}
	}
	m, ended := bounded(ctx, m, len(ops), bytes, moot)
	legal := porcupine.CheckOperations(m, ops)
	switch why := *ended; {
	case why != "":
		return Decision{CheckResult: porcupine.Unknown, Why: why}
	case legal:
		return Decision{CheckResult: porcupine.Ok}
	}
	return Decision{CheckResult: porcupine.Illegal}
}

// bounded returns a model of one partition that allows no further step once a search through n operations would take
// more memory than allowed, or was ended. It then says why.
func bounded(ctx context.Context, m porcupine.Model, n int, bytes int64, moot func() bool) (porcupine.Model, *string) {
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
		if steps++; steps%256 == 0 {
			switch {
			case ctx.Err() != nil:
				why = late(n)
			case moot != nil && moot():
				why = "another part is known to be illegal"
			}
		}
		ok, to := step(state, input, output)
		if ok {
			if left--; left < 0 {
				why = fmt.Sprintf("the search through %d operations grew beyond %d MiB", n, mebi(bytes))
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
	return fmt.Sprintf("time ran out before the search through %d operations had ended", n)
}

func mebi(bytes int64) int64 { return (bytes + 1<<20 - 1) >> 20 }

// drawn is how many operations a picture can hold and still be read.
const drawn = 200

// Draw returns porcupine's picture of operations, or nil if they are too many or too hard to decide. Where porcupine finds
// several orders equally good, it chooses at random which one to show first.
func Draw(ctx context.Context, m porcupine.Model, ops []porcupine.Operation) []byte {
	if len(ops) == 0 || len(ops) > drawn {
		return nil
	}
	limited, ended := m, new(string)
	if m.Partition == nil { // parts of partitioned models are small, and searched at the same time
		limited, ended = bounded(ctx, m, len(ops), small, nil)
	}
	_, info := porcupine.CheckOperationsVerbose(limited, ops, 0)
	if *ended != "" {
		return nil
	}
	b := new(bytes.Buffer)
	if err := porcupine.Visualize(m, info, b); err != nil {
		panic(err) // a buffer takes everything, and the data is porcupine's own
	}
	return b.Bytes()
}
