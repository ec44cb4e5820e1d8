// Package batch does many jobs at once: the runs of a hunt, a matrix, a suite, a shrinking, a track record, and the trials
// of experiments. A job is data, such as a run's plan. What comes of the jobs is given to one goroutine, which may decide by
// it on the jobs that follow, without a lock.
package batch

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"recount/internal/panicking"
)

// Batch is how jobs of type J, whose results are of type R, are to be done.
type Batch[J, R any] struct {
	// Do does one job. It is called by several goroutines, and returns soon after ctx has ended.
	Do func(ctx context.Context, job J) (R, error)
	// Jobs is how many are done at once; 0 for one a core.
	Jobs int
	// Ordered gives results in the order of their jobs, however long each takes; otherwise they come as they are done.
	Ordered bool
	// Ahead is how many jobs are taken before the result of the first of them is given; 0 for as many as are done at once.
	// Where jobs depend on results it decides, with Ordered, on which: whatever Jobs is.
	Ahead int
	// Budget is real time after which no more jobs begin; 0 for no limit. Those that have begun are done to their end.
	Budget time.Duration
}

// Done is what came of a job.
type Done[J, R any] struct {
	Number int // of the job, from 0, in the order in which they were taken
	Job    J
	Result R
	Err    error // a *Panic if the job crashed
	Took   time.Duration

	begun bool
}

// Panic is the error of a job that crashed.
type Panic struct {
	Value any
	Site  string // the function and line that it came from
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("%v\n%s", p.Value, p.Stack) }

// Each does the jobs and gives what came of each. Jobs are taken as there is room for them, between one result and the next,
// never while a result is looked at. When ctx ends no more are begun, and those that have begun are given as they ended. To
// break off the loop cancels them. In either case all have returned when the loop is over.
func (b *Batch[J, R]) Each(ctx context.Context, jobs iter.Seq[J]) iter.Seq[Done[J, R]] {
	return func(yield func(Done[J, R]) bool) {
		started := time.Now()
		next, end := iter.Pull(jobs)
		defer end()
		workers := Workers(b.Jobs)
		ahead := cmp.Or(b.Ahead, workers)
		todo, results := make(chan Done[J, R], ahead), make(chan Done[J, R], ahead)
		ctx, stop := context.WithCancel(ctx)
		var wg sync.WaitGroup
		defer wg.Wait()
		defer close(todo)
		defer stop()
		for range workers {
			wg.Go(func() {
				for d := range todo {
					if ctx.Err() == nil {
						b.do(ctx, &d)
					}
					results <- d
				}
			})
		}
		taken, given, open, more := 0, 0, 0, true
		fill := func() { // after each result by itself, so that what jobs depend on does not depend on which were done first
			for more && taken-given < ahead && ctx.Err() == nil && (b.Budget == 0 || time.Since(started) < b.Budget) {
				var job J
				if job, more = next(); more {
					todo <- Done[J, R]{Number: taken, Job: job}
					taken, open = taken+1, open+1
				}
			}
		}
		waiting := map[int]Done[J, R]{}
		for fill(); open > 0; {
			d := <-results
			open--
			waiting[d.Number] = d
			for turn := d.Number; ; {
				if b.Ordered {
					turn = given
				}
				d, here := waiting[turn]
				if !here {
					break
				}
				delete(waiting, turn)
				given++
				if d.begun && !yield(d) {
					return
				}
				fill()
			}
		}
	}
}

// do does a job. A crash is its failure, not everybody's.
func (b *Batch[J, R]) do(ctx context.Context, d *Done[J, R]) {
	started := time.Now()
	d.begun = true
	defer func() {
		d.Took = time.Since(started)
		if crash := recover(); crash != nil {
			d.Err = &Panic{crash, site(), debug.Stack()}
		}
	}()
	d.Result, d.Err = b.Do(ctx, d.Job)
}

// site is where a panic came from that is being recovered.
func site() string {
	all := panicking.Frames()
	if len(all) == 0 {
		return "nobody knows where"
	}
	return fmt.Sprintf("%s:%d", all[0].Function, all[0].Line)
}

// Workers is how many jobs are done at once when so many are asked for: one a core for 0.
func Workers(jobs int) int {
	if jobs <= 0 {
		return runtime.GOMAXPROCS(0)
	}
	return jobs
}
