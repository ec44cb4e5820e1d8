package suite

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"recount/internal/hint"
	"recount/internal/strict"
)

// How what is in a suite file is written.

// UnmarshalYAML reads a budget.
func (b *Budget) UnmarshalYAML(n *yaml.Node) error {
	if err := strict.Fill(n, &b.Duration); err != nil {
		return err
	}
	if b.Duration < 0 {
		return at(n, "budget: 15m; leave it out for none", "a budget of %v is less than none", b)
	}
	return nil
}

// UnmarshalYAML reads a date.
func (d *Date) UnmarshalYAML(n *yaml.Node) (err error) {
	if d.Time, err = time.Parse(time.DateOnly, n.Value); err != nil {
		return at(n, "until: 2027-03-31", "%q is no date", n.Value)
	}
	return nil
}

// at is a mistake at a place in the file.
func at(n *yaml.Node, way, format string, args ...any) error {
	return strict.At(n, hint.Add(fmt.Errorf(format, args...), "%s", way))
}

// UnmarshalYAML reads seeds.
func (s *Seeds) UnmarshalYAML(n *yaml.Node) error {
	words := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		words = n.Content
	}
	*s = nil
	seen := map[uint64]bool{}
	for _, w := range words {
		from, to, ranged := strings.Cut(w.Value, "-")
		if !ranged {
			to = from
		}
		first, err := strconv.ParseUint(strings.TrimSpace(from), 10, 64)
		last, err2 := strconv.ParseUint(strings.TrimSpace(to), 10, 64)
		if errors.Join(err, err2) != nil || last < first || last-first >= 1e6 {
			return at(w, "seeds: 1-20, or seeds: [1, 5, 8]", "%q is neither a seed nor a range of seeds", w.Value)
		}
		for seed := first; ; seed++ {
			if seen[seed] {
				return at(w, "each is one run: leave it out here, or there", "seed %d is there already", seed)
			}
			seen[seed] = true
			if *s = append(*s, seed); seed == last {
				break
			}
		}
	}
	return nil
}

// UnmarshalYAML reads a target, of which a word is the name.
func (t *Target) UnmarshalYAML(n *yaml.Node) error {
	type fields Target
	return wordOr(n, &t.Target, (*fields)(t))
}

// UnmarshalYAML reads a scenario, of which a word is the name.
func (s *Scenario) UnmarshalYAML(n *yaml.Node) error {
	type fields Scenario
	return wordOr(n, &s.Scenario, (*fields)(s))
}

// UnmarshalYAML reads a known weakness, whose every field but scenario must be there.
func (k *Known) UnmarshalYAML(n *yaml.Node) error {
	type fields Known
	const way = `{target: raft, property: sticky-leader, until: 2027-03-31, reason: "pre-vote is to come"}`
	if n.Kind != yaml.MappingNode {
		return at(n, way, "a known weakness is a mapping")
	}
	if err := strict.Fill(n, (*fields)(k)); err != nil {
		return err
	}
	for _, field := range []struct {
		name string
		is   bool
	}{{"target", k.Target != ""}, {"property", k.Property != ""}, {"until", !k.Until.IsZero()}, {"reason", k.Reason != ""}} {
		if !field.is {
			return at(n, way, "a known weakness without %s", field.name)
		}
	}
	return nil
}

// wordOr reads a single word, or fields.
func wordOr(n *yaml.Node, word *string, fields any) error {
	if n.Kind == yaml.ScalarNode {
		*word = n.Value
		return nil
	}
	return strict.Fill(n, fields)
}
