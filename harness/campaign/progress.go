package campaign

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"recount/harness/batch"
)

// Progress is how far a campaign is.
type Progress struct {
	batch.Progress         // in runs of shards that are made
	UnderWay       int     // runs of shards that this process is at
	Rate           float64 // runs of this process a second
	Findings       int     // signatures
	Shrinking      bool    // what is new is being made smaller
}

// telling is what is told of how far a campaign is, between one chain and the next too.
type telling struct {
	tried atomic.Int64 // runs of this process, those of shards under way among them

	mu      sync.Mutex // held while something is told
	last    Progress   // that a chain was made
	counted int        // runs of this process by then
}

// keepTelling tells how far it is while chains are made or something is shrunk, until stop is called.
func (w *runner) keepTelling() (stop func()) {
	return batch.KeepTelling(func() {
		if w.tried.Load() > 0 || w.shrinker.at.Load() > 0 {
			w.say()
		}
	})
}

// tell tells what a chain has added, and now and then writes it down.
func (w *runner) tell(ctx context.Context) error {
	w.count()
	w.say()
	if time.Since(w.shown) < showEvery {
		return nil
	}
	return w.show(ctx, Running)
}

// count counts what is made and found.
func (w *runner) count() {
	p := Progress{Progress: batch.Progress{Doing: w.campaign.Name}}
	signatures := map[string]bool{}
	for _, s := range w.subjects {
		p.Done += s.sum.Runs
		p.Planned += s.target.Runs
		for _, f := range s.shrunk {
			if f.Signature != "" {
				signatures[s.id+f.Signature] = true
			}
		}
	}
	p.Findings = len(signatures)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last, w.counted = p, w.made
}

// say says how far it is now.
func (w *runner) say() {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.last
	made := max(w.counted, int(w.tried.Load()))
	p.UnderWay = made - w.counted
	if p.Planned > 0 { // what was handed on, and lost, is made twice
		p.UnderWay = min(p.UnderWay, p.Planned-p.Done)
	}
	p.Shrinking = w.shrinker.at.Load() > 0
	p.Passed = time.Since(w.begun)
	p.Rate = float64(made) / p.Passed.Seconds()
	if made > 0 && p.Planned > 0 { // of what this process made; the rest was there
		p.Left = time.Duration(float64(p.Passed) * float64(p.Planned-p.Done-p.UnderWay) / float64(made))
	}
	if left := w.campaign.Budget - p.Passed; w.campaign.Budget > 0 && (p.Left == 0 || left < p.Left) {
		p.Left = max(left, 0)
	}
	w.Progress(p)
}
