package specfile

import (
	"context"
	"fmt"

	"recount/election"
)

// PostStart is what each node is asked each time that its process has begun, in its order: to be opened, or to join.
type PostStart []Request

func (p PostStart) requests() (all requests) {
	for i := range p {
		all = append(all, &p[i])
	}
	return all
}

const postStartWay = `post-start: {http: /unseal, body: '{"key": "{{kept "key"}}"}'} or {command: [PROGRAM, …]}, or a list of such: which each node is asked each time that it was started`

// readPostStart reads what nodes are asked once they were started.
func (s *Spec) readPostStart(_ value, f map[string]value) error {
	v, ok := f["post-start"]
	if !ok {
		return nil
	}
	w, err := s.example()
	if err != nil {
		return err
	}
	for _, one := range v.list() {
		r, err := one.fields(append([]string{"status"}, requestFields...)...)
		if err != nil {
			return err
		}
		q, err := w.requestOf(one, r, postStartWay)
		if err != nil {
			return err
		}
		s.PostStart = append(s.PostStart, q)
	}
	if len(s.PostStart) == 0 {
		return v.bad(postStartWay, "post-start: it is empty")
	}
	return nil
}

// Starts reports whether the file says what nodes are asked then, and whether by commands.
func (y *system) Starts() (some, byCommand bool) {
	return len(y.Spec.PostStart) > 0, y.Spec.PostStart.requests().byCommand()
}

// PostStart implements election.Starter: servers of services are asked nothing.
func (y *system) PostStart(self election.Member, all []election.Member) (told []election.Told) {
	if self.Server {
		return nil
	}
	for i := range y.Spec.PostStart {
		q := &y.Spec.PostStart[i]
		told = append(told, func(ctx context.Context, dial election.Dial) error {
			if err := y.ask(ctx, q, y.words(self, all), dial); err != nil {
				return fmt.Errorf("ask %s: %w", self.Name, err)
			}
			return nil
		})
	}
	return told
}
