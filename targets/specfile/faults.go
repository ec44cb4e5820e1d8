package specfile

import (
	"context"
	"fmt"
	"slices"

	"recount/election"
	"recount/internal/hint"
)

// OwnFault is a fault of the file's own: how a node is asked to begin it, and to end it.
type OwnFault struct {
	Name   string
	Inject Request
	Heal   Request // none where it is over as soon as it was begun
}

const ownWay = `faults: {stuck: {inject: {http: /stick}, heal: {http: /loosen}}}, each as resign has; without heal where nothing is left to take back`

// readOwnFaults reads what faults nodes can be asked for.
func (s *Spec) readOwnFaults(_ value, f map[string]value) error {
	v, ok := f["faults"]
	if !ok {
		return nil
	}
	w, err := s.example()
	if err != nil {
		return err
	}
	return v.each(func(key, val value) error {
		if !nameRule.MatchString(key.Value) {
			return key.bad("use letters from a to z, digits, - and _", "%q cannot be the name of a fault", key.Value)
		}
		r, err := val.fields("inject", "heal")
		if err != nil {
			return err
		}
		one := OwnFault{Name: key.Value}
		inject, ok := r["inject"]
		if !ok {
			return val.bad(ownWay, "faults: %s: inject is missing: how is a node asked to begin it?", key.Value)
		}
		if one.Inject, err = w.request(inject, ownWay); err != nil {
			return err
		}
		if heal, ok := r["heal"]; ok {
			if one.Heal, err = w.request(heal, ownWay); err != nil {
				return err
			}
		}
		s.Faults = append(s.Faults, one)
		return nil
	})
}

// ownFaults are the names of the faults of the file's own.
func (s *Spec) ownFaults() (names []string) {
	for _, f := range s.Faults {
		names = append(names, f.Name)
	}
	return names
}

// ownRequests are the requests of all of them.
func (s *Spec) ownRequests() (all requests) {
	for i := range s.Faults {
		all = append(all, &s.Faults[i].Inject, &s.Faults[i].Heal)
	}
	return all
}

// Afflict implements election.Afflicted.
func (y *system) Afflict(ctx context.Context, self election.Member, all []election.Member, fault string, begin bool, dial election.Dial) error {
	if self.Server {
		return election.ErrCannot
	}
	i := slices.Index(y.ownFaults(), fault)
	if i < 0 {
		return fmt.Errorf("%w: %w", election.ErrCannot, hint.Unknown("fault of the target's own", fault, y.ownFaults()))
	}
	q := &y.Spec.Faults[i].Inject
	if !begin {
		q = &y.Spec.Faults[i].Heal
	}
	if !q.given() {
		return nil
	}
	return y.ask(ctx, q, y.words(self, all), dial)
}
