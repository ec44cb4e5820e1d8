package specfile

import (
	"context"
	"fmt"

	"recount/election"
)

const resignWay = "resign: {http: /resign, port: NAME, body: '{…}'} or {command: [PROGRAM, …], refused: PATTERN}"

// readResign reads how a leader is asked to hand over.
func (s *Spec) readResign(_ value, f map[string]value) error {
	v, ok := f["resign"]
	if !ok {
		return nil
	}
	w, err := s.example()
	if err == nil {
		s.Resign, err = w.request(v, resignWay)
	}
	return err
}

// HandOver is how leaders are asked to hand over; nil where they cannot be.
func (y *system) HandOver() election.HandOver {
	if !y.Resign.given() {
		return nil
	}
	return y.handOver
}

// handOver asks a node that says it leads, and no other: a command may well be of the whole cluster.
func (y *system) handOver(ctx context.Context, self election.Member, all []election.Member, heir election.ID, dial election.Dial) error {
	if heir != election.None {
		return election.ErrNoHeir
	}
	if y.Observe.Asks() {
		o := y.Observer(self, all, dial)
		s, _, err := o.Observe(ctx)
		o.Close()
		if err != nil {
			return fmt.Errorf("%w: it was not asked: %w", election.ErrRefused, err)
		}
		if s.Role != election.Leader {
			return election.ErrNotLeader
		}
	} else if !y.announced(self.ID) {
		return election.ErrNotLeader
	}
	return y.ask(ctx, &y.Resign, y.words(self, all), dial)
}
