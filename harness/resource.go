package harness

import (
	"fmt"
	"math/rand/v2"
	"time"

	"recount/internal/seed"
	"recount/workloads"
)

// resource is the guarded resource of a run in virtual time: the harness keeps it, and writes take a while to get there.
type resource struct {
	fence *workloads.Fence
	after func(d time.Duration, f func())
	rand  *rand.Rand
	spare []*passage // writes that were answered
}

// passage is a write that is under way, or one that was: there are so many that the next one takes its place.
type passage struct {
	*resource
	write        workloads.Pending
	arrives, end func() // its own methods
}

func newResource(f *workloads.Fence, after func(time.Duration, func()), s uint64) *resource {
	return &resource{fence: f, after: after, rand: seed.New(s, "resource")}
}

// write sends a node's write on its way. What was sent arrives, whatever becomes of the sender.
func (r *resource) write(node string, token uint64, value int64) {
	var p *passage
	if k := len(r.spare) - 1; k >= 0 {
		p, r.spare = r.spare[k], r.spare[:k]
	} else {
		p = &passage{resource: r}
		p.arrives, p.end = p.arrived, p.ended
	}
	p.write = r.fence.Begin(node, token, value)
	r.after(r.travel(), p.arrives)
}

func (p *passage) arrived() {
	p.write.Decide()
	p.after(p.travel(), p.end)
}

func (p *passage) ended() {
	p.write.End()
	p.spare = append(p.spare, p)
}

func (r *resource) travel() time.Duration {
	return time.Duration(r.rand.Int64N(int64(2 * time.Millisecond)))
}

// writerRand is the randomness of one life of one node's writer.
func writerRand(s uint64, node string, life uint64) *rand.Rand {
	return seed.New(s, fmt.Sprintf("writer %s life %d", node, life))
}

// guards reports whether leaders guard a resource of the target's own.
func (r *run) guards() bool {
	if r.target.System == nil {
		return false
	}
	y, err := r.target.System(r.options)
	if err != nil {
		return false // the run was refused before
	}
	writer, told := resourceOf(y)
	return writer != nil || told != nil
}
