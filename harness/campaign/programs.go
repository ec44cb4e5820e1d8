package campaign

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"recount/harness"
	"recount/harness/campaign/store"
	"recount/harness/record"
	"recount/targets"
)

// program is a server that runs in virtual time. It is built where a campaign is planned: pods have no Go, and another Go would make
// another program.
type program struct {
	harness.Program
	Key string `json:"key"` // in the store
}

// putPrograms builds what the campaign runs in virtual time, whatever options and sizes are drawn, and keeps it.
func (c *Campaign) putPrograms(ctx context.Context, s *store.Store, progress func(string)) (all []program, err error) {
	had := map[harness.Program]bool{}
	for i := range c.Targets {
		t := &c.Targets[i]
		if t.On != record.OnVirtual {
			continue
		}
		for _, options := range t.combinations() {
			for nodes := t.Nodes[0]; nodes <= t.Nodes[1]; nodes++ {
				built, err := harness.Programs(ctx, record.Plan{Target: t.Target, Options: options, On: t.On, Nodes: nodes, Time: c.Time}, progress)
				if err != nil {
					return nil, err
				}
				for _, b := range built {
					if had[b] {
						continue
					}
					had[b] = true
					text, err := os.ReadFile(b.Path)
					if err != nil {
						return nil, err
					}
					sum := sha256.Sum256(text)
					p := program{b, "programs/" + hex.EncodeToString(sum[:12])}
					if _, err = s.Get(ctx, p.Key); errors.Is(err, fs.ErrNotExist) { // or not whole
						err = s.Put(ctx, p.Key, text)
					}
					if err != nil {
						return nil, err
					}
					all = append(all, p)
				}
			}
		}
	}
	return all, nil
}

// build builds what files describe, or has an engine obtain it, with each combination of options: to hash it tells whether it is what
// earlier runs were made of. How many nodes there are makes no difference to it.
func (c *Campaign) build(ctx context.Context) error {
	for i := range c.Targets {
		t := &c.Targets[i]
		if !targets.IsFile(t.Target) {
			continue
		}
		t.built = map[string][]string{}
		for _, options := range t.combinations() {
			built, err := harness.Built(ctx, record.Plan{Target: t.Target, Options: options, On: t.On, Nodes: t.Nodes[0], Time: c.Time})
			if err != nil {
				return err
			}
			t.built[fmt.Sprint(options)] = built // which sorts them
		}
	}
	return nil
}

// combinations are all ways to draw a target's options.
func (t *Target) combinations() []map[string]string {
	all := []map[string]string{{}}
	for name, values := range t.Options {
		var more []map[string]string
		for _, value := range values {
			for _, before := range all {
				next := maps.Clone(before)
				next[name] = value
				more = append(more, next)
			}
		}
		all = more
	}
	return all
}

// usePrograms has this process run programs as the store has them, until remove is called.
func usePrograms(ctx context.Context, s *store.Store, all []program) (remove func(), err error) {
	if len(all) == 0 {
		return func() {}, nil
	}
	dir, err := os.MkdirTemp("", "recount-programs-")
	remove = func() { os.RemoveAll(dir) }
	for _, p := range all {
		var text []byte
		if err == nil {
			text, err = s.Get(ctx, p.Key)
		}
		p.Path = filepath.Join(dir, filepath.Base(p.Key))
		if err == nil {
			err = os.WriteFile(p.Path, text, 0o755)
		}
		if err == nil {
			harness.UseProgram(p.Program)
		}
	}
	return remove, err
}
