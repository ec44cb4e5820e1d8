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
	const patience = 1 * time.Second
	const row = "%-64s %12s %-8s %12s %-8s %6s %s\n"
	fmt.Printf("\n"+row, "shape", "porcupine", "", "here", "", "ratio", "")
	worse, sum, plainly := 0, time.Duration(0), time.Duration(0)
	for _, s := range shapes(1000) {
		for _, stale := range []bool{false, true} {
			o := s.draw(1, stale)
			limited := func() (context.Context, context.CancelFunc) {
				return WithTime(WithMemory(context.Background(), 1<<30), patience)
			}
			ctx, cancel := limited()
			begin := onProcessor()
			theirs, _ := Ask(ctx, o.model(State{}), operations(o.Ops))
			plain := onProcessor() - begin
			cancel()
			runtime.GC()
			ctx, cancel = limited()
			begin = onProcessor()
			found := o.Decide(ctx)
			here := onProcessor() - begin
			cancel()
			runtime.GC()
			if theirs != unknown {
				require.Equal(t, theirs, found.Answer, "%v, stale: %v: %s", s, stale, found.Why)
			}
			sum, plainly = sum+here, plainly+plain
			ratio := float64(here) / float64(plain)
			verdict := ""
			if ratio > 2 && here > 20*time.Millisecond {
				verdict = "MISSED"
				worse++
			}
			fmt.Printf(row, fmt.Sprintf("%v, stale: %v", s, stale), plain.Round(time.Millisecond), theirs,
				here.Round(time.Millisecond), found.Answer, fmt.Sprintf("%.2f", ratio), verdict)
		}
	}
	t.Logf("%d took more than twice as long; all together %v, porcupine %v", worse, sum, plainly)
}

// onProcessor is how long this process has been on a processor.
func onProcessor() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
