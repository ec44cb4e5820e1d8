package linear

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var goals = flag.Bool("goals", false, "measure deciding against plain porcupine over many shapes of histories, and print both")

// TestGoalsOfShapes prints what deciding takes of the processor, and what plain porcupine does, over many shapes of
// histories: make bench. It fails where an answer is wrong, or where only porcupine has one.
func TestGoalsOfShapes(t *testing.T) {
	if !*goals {
		t.Skip("measured by make bench")
	}
	const row = "%-64s %12s %-8s %12s %-8s %6s %s\n"
	fmt.Printf("\n"+row, "shape", "porcupine", "", "here", "", "ratio", "")
	worse, sum, plainly := 0, time.Duration(0), time.Duration(0)
	compare := func(what string, o *Object) {
		plain, theirs := o.taken(func(ctx context.Context) Found {
			answer, _ := Ask(ctx, o.model(State{}), operations(o.Ops))
			return Found{Answer: answer}
		})
		here, found := o.taken(o.Decide)
		if theirs.Answer != unknown {
			require.Equal(t, theirs.Answer, found.Answer, "%s: %s", what, found.Why)
		}
		sum, plainly = sum+here, plainly+plain
		ratio := float64(here) / float64(plain)
		verdict := ""
		if ratio > 2 && here > 20*time.Millisecond {
			verdict = "MISSED"
			worse++
		}
		fmt.Printf(row, what, plain.Round(time.Millisecond), theirs.Answer, here.Round(time.Millisecond), found.Answer, fmt.Sprintf("%.2f", ratio), verdict)
	}
	for _, name := range cases {
		compare(name, readCase(t, name))
	}
	for _, s := range shapes(1000) {
		for _, stale := range []bool{false, true} {
			compare(fmt.Sprintf("%v, stale: %v", s, stale), s.draw(1, stale))
		}
	}
	t.Logf("%d took more than twice as long; all together %v, porcupine %v", worse, sum, plainly)
}

// taken is how long it takes to decide on an object, of the processor; a second at most.
func (o *Object) taken(decide func(ctx context.Context) Found) (time.Duration, Found) {
	ctx, cancel := WithTime(WithMemory(context.Background(), 1<<30), time.Second)
	defer cancel()
	defer runtime.GC()
	begin := onProcessor()
	found := decide(ctx)
	return onProcessor() - begin, found
}

// onProcessor is how long this process has been on a processor.
func onProcessor() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
