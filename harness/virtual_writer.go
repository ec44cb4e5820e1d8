package harness

import (
	"context"
	"math/rand/v2"
	"time"

	"recount/docker/member"
	"recount/election"
	"recount/virtual"
	"recount/workloads"
)

// virtualWriter is the process beside a real server in virtual time that its writer lives in. Like one beside a container's
// it asks the server over the node's own network, and is killed and paused together with it.
type virtualWriter struct {
	*virtual.Life
	c        *virtualized
	observer election.Observer // of the server beside which it lives
	to       *resource
	rand     *rand.Rand
}

// Writers has a writer begin with each life of a candidate, unless the target tells of the writes to a resource of its own.
func (c *virtualized) Writers(f *workloads.Fence, every, gap time.Duration) {
	c.fence = f
	if _, told := resourceOf(c.system); told != nil {
		return
	}
	to := newResource(f, c.After, c.s.Seed)
	c.OnStart(func(l *virtual.Life) {
		for _, m := range c.members {
			if m.Name == l.Node() && !m.Server {
				w := &virtualWriter{l, c, c.writing[m.Name], to, writerRand(c.s.Seed, m.Name, l.Number())}
				workloads.NewWriter(w, m.ID, l.Number(), every, gap).Start()
			}
		}
	})
}

// Watch implements workloads.Host.
func (w *virtualWriter) Watch(every time.Duration, sees func(election.Status) (again bool)) {
	workloads.Poll(w, every, sees)
}

func (w *virtualWriter) Rand() *rand.Rand                { return w.rand }
func (w *virtualWriter) Write(token uint64, value int64) { w.to.write(w.Node(), token, value) }

// Status asks the server, among the clients.
func (w *virtualWriter) Status(done func(election.Status)) {
	w.c.Do(w.Node(), func() func() {
		s, _ := member.Ask(context.Background(), w.observer) // no answer is no leader
		return func() { w.After(0, func() { done(s) }) }
	})
}
