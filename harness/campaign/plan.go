package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"recount/harness"
	"recount/harness/campaign/store"
	"recount/harness/record"
	"recount/internal/hint"
	"recount/targets"
)

// Plan is what makers elsewhere are told: a campaign, and which of its chains each of them makes. It is kept in the store.
type Plan struct {
	Campaign *Campaign `json:"campaign"`
	Binary   string    `json:"binary"` // hash of the program that is to make it
	Edition  string    `json:"edition"`
	Indexes  int       `json:"indexes"`
	Each     int       `json:"each"` // chains of an index
	Programs []program `json:"programs,omitempty"`
}

// subjects are a campaign's targets by the ids of their subjects, and those in the order of the targets.
func (c *Campaign) subjects(binary string) (by map[string]*subject, ids []string, err error) {
	by = map[string]*subject{}
	for i := range c.Targets {
		s := &subject{target: &c.Targets[i], config: c.config(&c.Targets[i]), packs: map[string]bool{}, found: map[string]*Result{}}
		if s.Subject, err = c.subject(s.target, binary); err != nil {
			return nil, nil, err
		}
		s.id = s.ID()
		s.config.Jobs = 1
		by[s.id], ids = s, append(ids, s.id)
	}
	return by, ids, nil
}

// Chains are those of an index: of all chains, one of each target, then another of each, it has so many in a row.
func (p *Plan) Chains(index int) ([]Chain, error) {
	c := p.Campaign
	by, ids, err := c.subjects(p.Binary)
	if err != nil {
		return nil, err
	}
	var all []Chain
	for k, more := 0, true; more; k++ {
		more = false
		for _, id := range ids {
			if left := by[id].target.Runs - k*links*c.Shard; left > 0 {
				all, more = append(all, chain(id, k, left, c.Shard)), true
			}
		}
	}
	if index < 0 || index*p.Each >= len(all) {
		return nil, harness.Usage(fmt.Errorf("index %d of a campaign of %d chains, %d of each index", index, len(all), p.Each))
	}
	return all[index*p.Each : min((index+1)*p.Each, len(all))], nil
}

// Plan cuts a campaign into indexes of about so many runs.
func (c *Campaign) Plan(runs int) (*Plan, error) {
	for i := range c.Targets {
		t := &c.Targets[i]
		switch {
		case !t.repeats():
			return nil, harness.Usage(hint.Add(fmt.Errorf("%s runs on %s: pods have no container engine", t.Name, t.On),
				"leave --on-cluster out: it runs where an engine is, one run after the other"))
		case targets.IsFile(t.Target):
			return nil, harness.Usage(hint.Add(fmt.Errorf("%s is described in a file, which pods do not have", t.Target),
				"hunt it on this machine, or register it in Go: docs/targets.md"))
		case t.Runs == 0:
			return nil, harness.Usage(hint.Add(fmt.Errorf("%s has a budget and no number of runs", t.Name), "runs: 100000 says how many indexes there are"))
		}
	}
	binary, err := Binary()
	if err != nil {
		return nil, err
	}
	each, chains := max(1, runs/(links*c.Shard)), 0
	for _, t := range c.Targets {
		chains += (t.Runs + links*c.Shard - 1) / (links * c.Shard)
	}
	p := &Plan{Campaign: c, Binary: binary, Indexes: (chains + each - 1) / each, Each: each}
	p.Edition = hash(p)
	return p, nil
}

// Key is where a plan lies in the store.
func (p *Plan) Key() string { return "plans/" + p.Edition }

// Virtual reports whether some of the campaign runs servers in virtual time.
func (p *Plan) Virtual() bool {
	return slices.ContainsFunc(p.Campaign.Targets, func(t Target) bool { return t.On == record.OnVirtual })
}

// Put keeps the plan, and with it the servers that run in virtual time: they are built here, and lines that tell how far that is go
// to progress.
func (p *Plan) Put(ctx context.Context, s *store.Store, progress func(string)) (err error) {
	if p.Programs, err = p.Campaign.putPrograms(ctx, s, progress); err != nil {
		return err
	}
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return s.Put(ctx, p.Key(), text)
}

// ReadPlan reads a plan from the store.
func ReadPlan(ctx context.Context, s *store.Store, key string) (*Plan, error) {
	text, err := s.Get(ctx, key)
	p := &Plan{}
	if err == nil {
		err = json.Unmarshal(text, p)
	}
	if err != nil {
		return nil, hint.Add(fmt.Errorf("plan %s: %w", key, err), "recount campaign run FILE --on-cluster puts it there")
	}
	return p, nil
}

// Make makes the chains of one index, whoever else may be at them, and puts their results together. What is in the store already
// is not made again.
func (p *Plan) Make(ctx context.Context, s *store.Store, index int, tell func(done, of int)) error {
	binary, err := Binary()
	if err != nil {
		return err
	}
	if binary != p.Binary {
		return harness.Usage(hint.Add(fmt.Errorf("the plan is another program's (%s, and this is %s)", p.Binary, binary),
			"make the image with the very executable that plans the campaign"))
	}
	all, err := p.Chains(index)
	if err != nil {
		return err
	}
	subjects, _, err := p.Campaign.subjects(binary)
	if err != nil {
		return err
	}
	remove, err := usePrograms(ctx, s, p.Programs)
	defer remove()
	if err != nil {
		return err
	}
	var failed error
	for i, c := range all {
		sub := subjects[c.Subject]
		results, _, err := sub.make(ctx, s, c)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		failed = errors.Join(failed, err)
		for _, r := range results {
			if len(r.Reach) > 0 {
				sub.loose = append(sub.loose, r)
			}
		}
		tell(i+1, len(all))
	}
	for _, sub := range subjects {
		if failed == nil && len(sub.loose) > 0 {
			failed = putPack(ctx, s, sub.id, sub.loose)
		}
	}
	return failed
}
