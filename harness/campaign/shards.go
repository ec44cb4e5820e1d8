package campaign

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"recount/harness/hunt"
	"recount/harness/record"
	"recount/internal/seed"
	"recount/targets"
)

// Subject is a target of a campaign with all that decides on its runs but their seeds. Its results are kept together.
type Subject struct {
	Binary     string              `json:"binary"` // hash of the program that makes the runs
	Target     string              `json:"target"`
	Definition string              `json:"definition,omitempty"` // hash of the file that describes the target
	Built      map[string][]string `json:"built,omitempty"`      // what was built of it, by options: executables or images
	Options    map[string][]string `json:"options,omitempty"`
	Faults     []string            `json:"faults"`
	Nodes      [2]int              `json:"nodes"`
	Time       int64               `json:"time,omitempty"` // nanoseconds
	Workloads  []string            `json:"workloads,omitempty"`
	On         string              `json:"on"`
	Property   string              `json:"property,omitempty"`
	Seed       uint64              `json:"seed"`
	Shard      int                 `json:"shard"` // runs of each
}

// Shard is a part of a campaign: a hunt of so many runs.
//
// Shards come in chains. The first of a chain begins with nothing; each other one begins with the plans that those before it in
// the chain found worth varying. So a chain learns as one long hunt does, and nobody waits for another's.
type Shard struct {
	Subject string `json:"subject"` // its id
	Chain   int    `json:"chain"`
	Link    int    `json:"link"`            // how many shards are before it in its chain
	After   string `json:"after,omitempty"` // the id of the shard before it in its chain
	Runs    int    `json:"runs"`
}

// links is how many shards make a chain. It decides what is found, so it is the same everywhere.
const links = 4

// Chain is shards that are made one after the other.
type Chain struct {
	Subject string
	Number  int // from 0, of the subject's
	Shards  []Shard
}

// ID is the shard's key: a hash of all that its result depends on.
func (s Shard) ID() string { return hash(s) }

// ID is the key that the subject's results are kept under.
func (s Subject) ID() string { return hash(s) }

// hash is 24 hexadecimal digits: among billions of shards no two alike are to be feared.
func hash(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // data of this package
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:12])
}

// Seed is what the shard's hunt draws from: the same whatever program makes it, so that two editions of one can be compared.
func (s Shard) Seed(of uint64) uint64 {
	return seed.New(of, fmt.Sprintf("campaign chain %d link %d", s.Chain, s.Link)).Uint64()
}

// Binary returns the hash of the running program.
func Binary() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:12]), nil
}

// config is what a hunt of a target takes; its seed and its runs are a shard's.
func (c *Campaign) config(t *Target) hunt.Config {
	cfg := hunt.Config{
		Target: t.Target, Options: map[string][]string{}, Faults: t.Faults, Nodes: t.Nodes, Time: c.Time,
		Workloads: c.workloads(t), On: t.On, Property: t.Property, KeepGoing: true,
	}
	for name, values := range t.Options {
		cfg.Options[name] = values
	}
	return cfg
}

// subject is what decides on a target's runs.
func (c *Campaign) subject(t *Target, binary string) (Subject, error) {
	cfg := c.config(t)
	s := Subject{
		Binary: binary, Target: t.Target, Options: cfg.Options, Faults: cfg.Faults, Nodes: cfg.Nodes, Time: int64(cfg.Time),
		Workloads: cfg.Workloads, On: cfg.On, Property: cfg.Property, Seed: c.Seed, Shard: c.Shard,
	}
	if targets.IsFile(t.Target) {
		found, err := targets.Find(t.Target)
		if err != nil {
			return s, err
		}
		s.Target, s.Definition, s.Built = t.Name, hash(found.Definition), t.built // wherever the file lies
	}
	return s, nil
}

// stored is a plan as the store has it: whoever reads it may have the target's file elsewhere, and finds the same by it.
func (s *Subject) stored(p record.Plan) record.Plan {
	p.Target = s.Target
	return p
}

// chain returns a subject's chain of that number, of which so many runs are left to be planned.
func chain(subject string, number, left, shard int) Chain {
	c := Chain{Subject: subject, Number: number}
	after := ""
	for range links {
		if left <= 0 {
			break
		}
		s := Shard{Subject: subject, Chain: number, Link: len(c.Shards), After: after, Runs: min(shard, left)}
		c.Shards = append(c.Shards, s)
		after, left = s.ID(), left-s.Runs
	}
	return c
}

// planned reports whether a result is of a shard that is planned. The store may have others: a target's last shard is shorter, and where
// once fewer runs were asked for, or more, one of another length has its place. Runs of both would count twice.
func (t *Target) planned(r *Result, shard int) bool {
	left := maxRuns
	if t.Runs > 0 {
		left = t.Runs
	}
	return r.Runs == min(left-(r.Chain*links+r.Link)*shard, shard)
}

// repeats reports whether a target's shards come to the same wherever they are made.
func (t *Target) repeats() bool { return record.Repeats(t.On) }
