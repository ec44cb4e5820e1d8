package matrix

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"time"

	"recount/harness"
	"recount/harness/batch"
	"recount/harness/record"
)

// runsFolder is where a matrix keeps runs, in its own folder.
const runsFolder = "runs"

// Keep makes the runs that cells point to once more, this time with reports, and puts them under dir: for each invalid
// cell the one with its smallest seed, no more than most of them (0 is all). Those that show broken promises come first,
// then those that the page shows of weaknesses. When ctx ends, cells are left without.
func Keep(ctx context.Context, p Plan, t *Table, dir string, most int, progress func(batch.Progress)) error {
	k := &keeping{plan: &p, table: t, dir: dir}
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
	started := time.Now()
	b := batch.Batch[wanted, string]{Do: k.make, Jobs: p.Jobs}
	for d := range b.Each(ctx, slices.Values(k.wanted)) {
		if d.Err != nil {
			return d.Err
		}
		k.note(d.Job, d.Result)
		now := batch.Progress{Doing: "keeping", Done: d.Number + 1, Planned: len(k.wanted), Passed: time.Since(started)}
		progress(now.Estimate(0))
	}
	return nil
}

// wanted is a run to be kept.
type wanted struct {
	pair   int
	seed   uint64
	weight Outcome // the worst that it is the page's example of
}

// keeping is runs being kept.
type keeping struct {
	plan   *Plan
	table  *Table
	dir    string
	wanted []wanted
}

// make makes a run and returns its folder, relative to the matrix's; "" if it was cut short.
func (k *keeping) make(ctx context.Context, w wanted) (folder string, err error) {
	columns := len(k.table.Columns)
	run := k.plan.run(&k.plan.Rows[w.pair/columns], &k.plan.Columns[w.pair%columns], w.seed)
	results := filepath.Join(k.dir, runsFolder)
	rep, err := harness.Run(ctx, run, harness.Config{Results: results, Repeat: run.Command(), Compress: true})
	switch {
	case err != nil:
		return "", err
	case ctx.Err() != nil && !rep.Frame().Complete(): // what there is of it shows nothing
		return "", record.Drop(results, rep.Dir)
	}
	rel, err := filepath.Rel(k.dir, rep.Dir)
	return filepath.ToSlash(rel), err
}

// note lets the cells that a run is the example of point to its folder.
func (k *keeping) note(w wanted, folder string) {
	cells := k.table.Pairs[w.pair].Cells
	for i := range cells {
		if c := &cells[i]; c.Invalid > 0 && c.Seed == w.seed {
			c.Run = folder
		}
	}
}
