package specfile

import (
	"context"
	"fmt"
	"slices"

	"recount/election"
)

// Bootstrap is what makes a cluster of nodes that were started: requests, in their order.
type Bootstrap []Founding

// Founding is a request that nodes get once in a cluster.
type Founding struct {
	Request
	Of    Founders // who gets it
	About bool     // n1 gets it once about each of the others, which is {{.Member}}
	Keep  Keep     // what of its answer is kept
}

// Founders are nodes that get a request.
type Founders uint8

// Who does.
const (
	FirstOne Founders = iota // n1
	Others                   // all but n1, one after the other
	AllNodes                 // all, likewise
)

func (b Bootstrap) requests() (all requests) {
	for i := range b {
		all = append(all, &b[i].Request)
	}
	return all
}

// keeps are the names of what is kept of answers.
func (b Bootstrap) keeps() (names []string) {
	for i := range b {
		names = append(names, b[i].Keep.names()...)
	}
	return names
}

// assumed is something for each of these to be tried with.
func (b Bootstrap) assumed() map[string]string {
	said := map[string]string{}
	for _, name := range b.keeps() {
		said[name] = name
	}
	return said
}

const bootstrapWay = `bootstrap: [PROGRAM, …], run in n1; or {http: /init, port: NAME, body: '{…}'}, at: others or all where it is not n1 that is asked, or ` +
	`about: others where n1 is asked about each, {{.Member.Name}}; or a list of such`

// readBootstrap reads what makes a cluster of the nodes.
func (s *Spec) readBootstrap(_ value, f map[string]value) error {
	v, ok := f["bootstrap"]
	if !ok {
		return nil
	}
	if !slices.ContainsFunc(v.list(), value.isMapping) { // the words of one command
		command, err := s.command(v)
		if err == nil {
			s.Bootstrap = Bootstrap{{Request: Request{Command: command}}}
		}
		return err
	}
	for _, one := range v.list() {
		founding, err := s.founding(one)
		if err != nil {
			return err
		}
		s.Bootstrap = append(s.Bootstrap, founding)
	}
	return nil
}

// founding reads one of the requests.
func (s *Spec) founding(v value) (q Founding, err error) {
	r, err := v.fields(append([]string{"status", "at", "about", "keep"}, requestFields...)...)
	if err != nil {
		return q, err
	}
	at, elsewhere := r["at"]
	about, each := r["about"]
	if elsewhere {
		if q.Of, err = oneOf(at, map[string]Founders{"others": Others, "all": AllNodes}); err != nil {
			return q, err
		}
	}
	if each {
		if elsewhere {
			return q, about.bad(bootstrapWay, "%s: at beside about: who is asked about the others is n1", v.name)
		}
		if q.About, err = oneOf(about, map[string]bool{"others": true}); err != nil {
			return q, err
		}
	}
	if keep, ok := r["keep"]; ok {
		if elsewhere || each {
			return q, keep.bad("keep what n1 is asked once", "%s: keep beside at or about: several nodes are asked, or n1 several times", v.name)
		}
		if q.Keep, err = readKeep(keep); err != nil {
			return q, err
		}
	}
	w, err := s.example()
	if err != nil {
		return q, err
	}
	if q.About {
		w.member = &w.all[2]
	}
	q.Request, err = w.requestOf(v, r, bootstrapWay)
	return q, err
}

// asked are the words by which nodes get the request, in their order.
func (q *Founding) asked(y *system, all []election.Member) (each []words) {
	nodes, _ := y.split(all)
	if q.About {
		for i := range nodes[1:] {
			w := y.words(nodes[0], all)
			w.member = &nodes[i+1]
			each = append(each, w)
		}
		return each
	}
	for _, self := range [...][]election.Member{FirstOne: nodes[:1], Others: nodes[1:], AllNodes: nodes}[q.Of] {
		each = append(each, y.words(self, all))
	}
	return each
}

// Bootstraps reports whether the file says how nodes are made a cluster, and whether by commands.
func (y *system) Bootstraps() (some, byCommand bool) {
	return len(y.Spec.Bootstrap) > 0, y.Spec.Bootstrap.requests().byCommand()
}

// Bootstrap implements election.Bootstrapper. What was done is not asked for again.
func (y *system) Bootstrap(ctx context.Context, all []election.Member, dial func(election.Member) election.Dial) error {
	number := 0
	for i := range y.Spec.Bootstrap {
		q := &y.Spec.Bootstrap[i]
		for _, w := range q.asked(y, all) {
			if number++; number <= y.founding {
				continue
			}
			if err := y.found(ctx, q, w, dial(w.self)); err != nil {
				return fmt.Errorf("bootstrap of %s: %w", w.self.Name, err)
			}
			y.founding = number
		}
	}
	return nil
}

// found asks a node, and keeps what is wanted of its answer.
func (y *system) found(ctx context.Context, q *Founding, w words, dial election.Dial) error {
	answer, err := y.askFor(ctx, &q.Request, w, dial, q.Keep.given())
	if err != nil || !q.Keep.given() {
		return err
	}
	said, err := q.Keep.of(answer)
	if err == nil {
		y.kept.add(said)
	}
	return err
}
