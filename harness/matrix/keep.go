package matrix

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"recount/harness"
	"recount/harness/record"
)

// runsFolder is where a matrix keeps runs, in its own folder.
const runsFolder = "runs"

// Keep makes the runs that cells point to once more, this time with reports, and puts them under dir: for each invalid
// cell the one with its smallest seed, no more than most of them (0 is all). Those that show broken promises come first,
// then those that the page shows of weaknesses. When ctx ends, cells are left without.
func Keep(ctx context.Context, p Plan, t *Table, dir string, most int, progress func(Progress)) error {
	k := &keeping{plan: &p, table: t, dir: dir, started: time.Now(), progress: progress}
	shown := map[*Cell]bool{}
	for _, f := range slices.Concat(t.Findings(Broken), t.Findings(Weak)) {
		shown[f.Cell] = true
	}
	for i := range t.Pairs {
		at := map[uint64]int{}
		for c := range t.Pairs[i].Cells {
			cell := &t.Pairs[i].Cells[c]
			if cell.Invalid == 0 {
				continue
			}
			w, known := at[cell.Seed]
			if !known {
				w = len(k.wanted)
				at[cell.Seed] = w
				k.wanted = append(k.wanted, wanted{pair: i, seed: cell.Seed})
			}
			if shown[cell] {
				k.wanted[w].weight = max(k.wanted[w].weight, cell.Verdict)
			}
		}
	}
	slices.SortStableFunc(k.wanted, func(a, b wanted) int { return cmp.Compare(b.weight, a.weight) })
	if most > 0 && len(k.wanted) > most {
		k.wanted = k.wanted[:most]
	}
	var wg sync.WaitGroup
	for range p.Jobs {
		wg.Go(func() { k.work(ctx) })
	}
	wg.Wait()
	return k.failed
}

// wanted is a run to be kept.
type wanted struct {
	pair   int
	seed   uint64
	weight Verdict // the worst that it is the page's example of
}

// keeping is runs being kept by several goroutines.
type keeping struct {
	plan     *Plan
	table    *Table
	dir      string
	started  time.Time
	progress func(Progress)
	wanted   []wanted

	mu     sync.Mutex
	next   int
	failed error
}

func (k *keeping) work(ctx context.Context) {
	for {
		w, ok := k.take(ctx)
		if !ok {
			return
		}
		columns := len(k.table.Columns)
		run := k.plan.run(&k.plan.Rows[w.pair/columns], &k.plan.Columns[w.pair%columns], w.seed)
		run.On = record.OnSim
		rep, err := harness.Run(ctx, run, harness.Config{
			Results: filepath.Join(k.dir, runsFolder), Repeat: run.Command(), Compress: true,
		})
		if err != nil {
			k.add(w, "", err)
			continue
		}
		rel, err := filepath.Rel(k.dir, rep.Dir)
		k.add(w, filepath.ToSlash(rel), err)
	}
}

func (k *keeping) take(ctx context.Context) (w wanted, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if ctx.Err() != nil || k.failed != nil || k.next == len(k.wanted) {
		return w, false
	}
	k.next++
	return k.wanted[k.next-1], true
}

func (k *keeping) add(w wanted, run string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		k.failed = err
		return
	}
	for i := range k.table.Pairs[w.pair].Cells {
		if c := &k.table.Pairs[w.pair].Cells[i]; c.Invalid > 0 && c.Seed == w.seed {
			c.Run = run
		}
	}
	passed := time.Since(k.started)
	k.progress(Progress{
		Doing: "keeping", Done: k.next, Planned: len(k.wanted), Passed: passed,
		Left: time.Duration(float64(passed) * float64(len(k.wanted)-k.next) / float64(k.next)),
	})
}
