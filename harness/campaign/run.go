package campaign

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"recount/harness"
	"recount/harness/batch"
	"recount/harness/campaign/store"
	"recount/harness/hunt"
	"recount/harness/record"
	"recount/internal/hint"
)

// Config is how a campaign is run on one machine.
type Config struct {
	Store  *store.Store
	Folder string // of the campaign, for all that people look at: results/campaigns/<name>
	Jobs   int    // chains at once; 0 for one a core
	// Make makes a run that does not repeat, on containers; nil if there are none.
	Make     func(ctx context.Context, p record.Plan) (*record.Run, error)
	Command  string
	Commit   string // that the program was built from, if anybody knows
	Copy     bool   // the store lies elsewhere, and gets a copy of the folder
	Collect  bool   // nothing is made here: what others have made is concluded
	Progress func(Progress)
	// Poll is how long to wait for chains that other processes are at; 0 is a second.
	Poll time.Duration
}

// subject is a target of a campaign that is run.
type subject struct {
	Subject
	id        string
	target    *Target
	config    hunt.Config
	chains    []Chain // planned
	done      []bool  // of the chains
	sum       *Sum
	shrunk    map[string]*Shrunk
	concluded int       // waves
	partial   bool      // one of them was not made as a whole: what comes of it is told, and not kept
	loose     []*Result // that this process has made and not packed

	mu    sync.Mutex
	packs map[string]bool    // that were read
	found map[string]*Result // in packs that others have made since sum was read
	read  []*pack            // those packs, until they are added to sum
	lost  lost
}

// Run makes what is not made yet of a campaign, with whoever else is at the same store, and tells what it has come to. When ctx
// ends, or the budget is spent, what was done is kept; the same call goes on.
func (c *Campaign) Run(ctx context.Context, cfg Config) (*Summary, error) {
	w, err := c.open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	inner := ctx
	if c.Budget > 0 {
		w.until = w.begun.Add(c.Budget)
		var stop context.CancelFunc
		inner, stop = context.WithDeadline(ctx, w.until.Add(-aside(c.Budget)))
		defer stop()
	}
	failed := w.show(ctx, Running)
	w.count()
	stop := w.keepTelling()
	if failed == nil && !cfg.Collect {
		failed = w.work(inner, ctx)
	}
	if failed == nil && ctx.Err() == nil {
		failed = w.concludeAll(ctx, c.Budget > 0 && inner.Err() != nil)
	}
	stop()
	return w.end(ctx, failed)
}

// aside is what of a budget is left for shrinking what is found last, and for the yardstick: a quarter, ten minutes at most.
func aside(budget time.Duration) time.Duration { return min(budget/4, 10*time.Minute) }

// runner is a campaign under way in this process.
type runner struct {
	Config
	campaign *Campaign
	who      string
	binary   string
	begun    time.Time
	before   time.Duration // that the edition took until then
	subjects []*subject
	until    time.Time // the end of the budget; zero without one
	made     int       // runs, by this process
	shown    time.Time
	telling
	view     *view
	copy     *copied
	shrinker *shrinker
	failed   error // what ended it
	budgeted bool  // the budget was spent before all was done
}

// open reads what there is of a campaign.
func (c *Campaign) open(ctx context.Context, cfg Config) (*runner, error) {
	w := &runner{Config: cfg, campaign: c, begun: time.Now(), who: name()}
	if w.Progress == nil {
		w.Progress = func(Progress) {}
	}
	if w.Poll == 0 {
		w.Poll = time.Second
	}
	var err error
	if w.binary, err = Binary(); err != nil {
		return nil, err
	}
	w.shrinker = &shrinker{store: w.Store, folder: w.Folder, make: w.run}
	if err = c.build(ctx); err != nil {
		return nil, err
	}
	by, ids, err := c.subjects(w.binary)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		s := by[id]
		if !s.target.repeats() {
			s.config.Make = w.run // a hunt simulates by itself, without a history
		}
		s.config.Each = func(t hunt.Trial) {
			w.tried.Add(1)
			s.missed(t)
		}
		if err = w.read(ctx, s); err != nil {
			return nil, err
		}
		w.subjects = append(w.subjects, s)
	}
	if w.Copy {
		if w.copy, err = openCopy(ctx, w.Store, w.Folder, c.Name); err != nil {
			return nil, err
		}
	}
	if w.view, err = openView(w.Folder); err != nil {
		return nil, err
	}
	w.before, err = w.view.took(w.edition())
	return w, err
}

// run makes a run where it takes place.
func (w *runner) run(ctx context.Context, p record.Plan) (*record.Run, error) {
	if record.Repeats(p.On) {
		return harness.Simulate(ctx, p)
	}
	return w.Make(ctx, p)
}

// name is one that no other process has, on any machine.
func name() string {
	host, err := os.Hostname()
	if err != nil {
		host = "somewhere"
	}
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), rand.Text()[:8])
}

// read reads what is in the store of a subject.
func (w *runner) read(ctx context.Context, s *subject) (err error) {
	packs, err := keys(ctx, w.Store, packPrefix(s.id))
	if err != nil {
		return err
	}
	for _, key := range packs {
		s.packs[key] = true
	}
	counts := func(r *Result) bool { return s.target.planned(r, w.campaign.Shard) }
	if s.sum, err = Total(ctx, w.Store, s.id, counts, true); err == nil {
		s.shrunk, err = shrunk(ctx, w.Store, s.id)
	}
	return err
}

// has reports whether all of a chain's shards are done.
func (s *Sum) has(c Chain) bool {
	for _, shard := range c.Shards {
		if !s.Done[shard.ID()] {
			return false
		}
	}
	return true
}

// more plans the next chain of a subject; it returns false if there is none.
func (s *subject) more(shard int) bool {
	left := maxRuns // without a number of runs there is a budget
	if s.target.Runs > 0 {
		left = s.target.Runs - len(s.chains)*links*shard
	}
	if left <= 0 {
		return false
	}
	c := chain(s.id, len(s.chains), left, shard)
	s.chains = append(s.chains, c)
	s.done = append(s.done, s.sum.has(c))
	return true
}

// job is a chain of a subject to be made.
type job struct {
	*subject
	chain Chain // not the planned ones: more of them are planned while it is made
}

// came is what came of a chain: its results; busy if somebody else is at it.
type came struct {
	results []*Result
	made    int // runs
	busy    bool
}

// work makes chains, and concludes waves, until all are made or ctx ends.
func (w *runner) work(ctx, outer context.Context) error {
	next := 0
	busy, err := w.each(ctx, outer, func() (job, bool) { return w.next(&next) })
	for err == nil && len(busy) > 0 && ctx.Err() == nil { // look again at what others were at: they may be gone
		select {
		case <-ctx.Done():
		case <-time.After(w.Poll):
		}
		again := busy
		busy, err = w.each(ctx, outer, func() (j job, more bool) {
			if more = len(again) > 0; more {
				j, again = again[0], again[1:]
			}
			return j, more
		})
	}
	return err
}

// each makes chains as next gives them, and returns those that others are at.
func (w *runner) each(ctx, outer context.Context, next func() (job, bool)) (busy []job, err error) {
	jobs := func(yield func(job) bool) {
		for j, more := next(); more && ctx.Err() == nil && yield(j); {
			j, more = next()
		}
	}
	b := batch.Batch[job, came]{Do: w.do, Jobs: w.workers(), Ahead: 2 * w.workers()}
	for d := range b.Each(ctx, jobs) {
		switch {
		case ctx.Err() != nil && d.Err != nil: // it was cut short; the shards before are made
		case d.Err != nil:
			return nil, d.Err
		case d.Result.busy:
			busy = append(busy, d.Job)
			continue
		}
		w.made += d.Result.made
		if err := d.Job.note(outer, w.Store, d.Result.results); err != nil {
			return nil, err
		}
		d.Job.done[d.Job.chain.Number] = d.Job.sum.has(d.Job.chain)
		if err := w.conclude(outer, d.Job.subject, false, w.until); err != nil {
			return nil, err
		}
		if err := w.tell(outer); err != nil {
			return nil, err
		}
	}
	return busy, nil
}

// workers is how many chains are made at once: containers are made one after the other.
func (w *runner) workers() int {
	for _, s := range w.subjects {
		if !s.target.repeats() {
			return 1
		}
	}
	return batch.Workers(w.Jobs)
}

// next is the next chain that is to be made: one of each subject, then another of each. at says how far that went.
func (w *runner) next(at *int) (job, bool) {
	for idle := 0; idle < len(w.subjects); {
		s := w.subjects[*at%len(w.subjects)]
		k := *at / len(w.subjects)
		*at++
		for len(s.chains) <= k && s.more(w.campaign.Shard) {
		}
		switch {
		case k >= len(s.chains):
			idle++
		case !s.done[k]:
			return job{s, s.chains[k]}, true
		default:
			idle = 0
		}
	}
	return job{}, false
}

// do makes a chain, unless another process does.
func (w *runner) do(ctx context.Context, j job) (out came, err error) {
	claim, err := w.Store.Claim(ctx, claimKey(j.chain), w.who)
	if err != nil {
		return out, err
	}
	if claim == nil {
		out.busy = true
		return out, nil
	}
	defer func() { err = cmp.Or(err, claim.Release(ctx)) }()
	results, made, err := j.make(ctx, w.Store, j.chain)
	return came{results: results, made: made}, err
}

// make makes the shards of a chain that are not in the store, and returns the results of all, or of those until an error.
func (s *subject) make(ctx context.Context, st *store.Store, c Chain) (all []*Result, made int, err error) {
	for i, shard := range c.Shards {
		r, err := s.result(ctx, st, shard)
		if err == nil && r == nil {
			if r, err = s.makeShard(ctx, st, c, i); err == nil {
				made += r.Runs
			}
		}
		if err != nil {
			return all, made, err
		}
		all = append(all, r)
	}
	return all, made, nil
}

// result returns the result of a shard from the store, or nil if it is not there.
func (s *subject) result(ctx context.Context, st *store.Store, shard Shard) (*Result, error) {
	text, err := st.Get(ctx, resultKey(shard))
	if err == nil {
		r := &Result{}
		if err := json.Unmarshal(text, r); err != nil {
			return nil, hint.Add(fmt.Errorf("%s: %s is no result: %w", st.URL, resultKey(shard), err), "remove it if nobody needs it, and the shard is made again")
		}
		return r, nil
	}
	if !missing(err) {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := keys(ctx, st, packPrefix(s.id)) // somebody may have packed it
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(key string) bool { return s.packs[key] })
	err = eachPack(ctx, st, all, func(key string, p *pack) error {
		s.packs[key] = true
		for _, r := range p.Results {
			s.found[r.Shard] = r
		}
		s.read = append(s.read, p)
		return nil
	})
	return s.found[shard.ID()], err
}

// note adds what a chain came to, and what others have packed meanwhile.
func (s *subject) note(ctx context.Context, st *store.Store, all []*Result) error {
	s.mu.Lock()
	packs := s.read
	s.read = nil
	s.mu.Unlock()
	for _, p := range packs {
		if err := s.sum.addPack(p); err != nil {
			return err
		}
	}
	for _, r := range all {
		if err := s.sum.add(r); err != nil {
			return err
		}
		if len(r.Reach) > 0 {
			s.loose = append(s.loose, r)
		}
	}
	if len(s.loose) < packed {
		return nil
	}
	full := s.loose
	s.loose = nil
	return putPack(ctx, st, s.id, full)
}

// makeShard makes one shard of a chain whose shards before it are made, and keeps its result.
func (s *subject) makeShard(ctx context.Context, st *store.Store, c Chain, i int) (*Result, error) {
	r, _, err := s.hunt(ctx, st, c, i) // it keeps the parents before the result: what has a result is done
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(r)
	if err == nil {
		err = st.Put(ctx, resultKey(c.Shards[i]), text)
	}
	return r, err
}

// hunt makes the runs of one shard of a chain, and keeps the plans that it hands on to the next. What the shard before it has
// handed on may not be there: it was lost, or that shard was the last when fewer runs were asked for. Then it is made again.
func (s *subject) hunt(ctx context.Context, st *store.Store, c Chain, i int) (r *Result, worth []record.Plan, err error) {
	var from []record.Plan
	if i > 0 {
		if from, err = s.parents(ctx, st, c.Shards[i-1]); missing(err) {
			_, from, err = s.hunt(ctx, st, c, i-1)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	shard := c.Shards[i]
	if r, worth, err = shard.Make(ctx, s.config, s.Subject, from); err != nil || i+1 == len(c.Shards) {
		return r, worth, err
	}
	handed := slices.Clone(worth)
	for k := range handed {
		handed[k] = s.stored(handed[k])
	}
	text, err := json.Marshal(handed)
	if err == nil {
		err = st.Put(ctx, parentsKey(shard), text)
	}
	return r, worth, err
}

// conclude shrinks what is new in the waves of a subject that are made, in their order; with all, in a wave that is not. At the end
// of the budget, or of the share of it that ends by then, what is not shrunk is left.
func (w *runner) conclude(ctx context.Context, s *subject, all bool, by time.Time) error {
	for ; s.concluded*wave < len(s.chains); s.concluded++ {
		first := s.concluded * wave
		last := min(first+wave, len(s.chains))
		for last < first+wave && s.more(w.campaign.Shard) { // are there more to come in it?
			last++
		}
		runs, whole := 0, !s.partial
		for k := first; k < last; k++ {
			if !s.done[k] && !all {
				return nil
			}
			whole = whole && s.done[k]
			for _, shard := range s.chains[k].Shards {
				runs += shard.Runs
			}
		}
		claim, err := w.Store.Claim(ctx, fmt.Sprintf("claims/%s/wave-%d", s.id, s.concluded), w.who)
		if err != nil || claim == nil {
			return err
		}
		if !s.partial {
			s.shrunk, err = shrunk(ctx, w.Store, s.id)
		}
		s.partial = !whole && s.target.repeats()
		if err == nil {
			err = within(ctx, by, func(ctx context.Context) error {
				return w.shrinker.conclude(ctx, s, s.concluded, runs, whole)
			})
		}
		if errors.Is(err, errSpent) {
			s.partial, err = s.target.repeats(), nil // what the waves after it would shrink hangs on it
		}
		if err = cmp.Or(err, claim.Release(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// errSpent says that the time for something was over before it was done.
var errSpent = errors.New("the budget is spent")

// within does something until a time; without one, as long as it takes.
func within(ctx context.Context, by time.Time, do func(context.Context) error) error {
	if by.IsZero() {
		return do(ctx)
	}
	inner, stop := context.WithDeadline(ctx, by)
	defer stop()
	err := do(inner)
	if err != nil && inner.Err() != nil && ctx.Err() == nil {
		return errSpent
	}
	return err
}

// concludeAll shrinks what is left, several subjects at once, when all is made or, with spent, the time for that is over. What is left
// of the budget they share.
func (w *runner) concludeAll(ctx context.Context, spent bool) error {
	w.budgeted = spent
	if err := w.measureAll(ctx); err != nil {
		return err
	}
	workers := w.workers()
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for i, s := range w.subjects {
		for w.Collect && s.more(w.campaign.Shard) {
		}
		g.Go(func() error {
			by := w.until
			if rounds := (len(w.subjects) - i + workers - 1) / workers; !by.IsZero() {
				by = time.Now().Add(time.Until(by) / time.Duration(rounds))
			}
			return w.concludeRest(inner, s, spent || w.Collect, by)
		})
	}
	return g.Wait()
}

// concludeRest shrinks what is left of a subject, unless ctx ends.
func (w *runner) concludeRest(ctx context.Context, s *subject, all bool, by time.Time) error {
	for len(s.chains) > s.concluded*wave {
		before := s.concluded
		if err := w.conclude(ctx, s, all, by); err != nil {
			return err
		}
		if before < s.concluded {
			continue
		}
		if !by.IsZero() && time.Now().After(by) {
			return nil
		}
		select { // another process is at it
		case <-ctx.Done():
			return nil
		case <-time.After(w.Poll):
		}
	}
	return nil
}
