package sim

import (
	"iter"
	"slices"
	"time"

	"recount/election"
)

// kind is what an event does when its time comes.
type kind uint8

const (
	call    kind = iota // call fn
	deliver             // msg reaches the machine of node, unless the link is cut
	handle              // hand msg, which has arrived, to node
	lost                // nothing: msg was lost on its way
	expire              // a timer of node may have run out
	hosted              // call fn within the process of node
	belated             // call fn, which the process of node did before its disk kept it waiting
	ask                 // node is asked for its view
	answer              // the view reaches who asked
)

// event is something that will happen. Which fields count depends on its kind.
type event struct {
	kind  kind
	timer election.Timer
	node  int32       // whose process it concerns, as an index
	life  uint32      // of that process, or of its timer
	from  election.ID // of a message
	sent  time.Duration
	ask   int32 // index of the question
	fn    func()
	msg   election.Message
}

// entry is an event's place in the queue. Events of one time happen in the order in which they were added.
type entry struct {
	at   time.Duration
	seq  uint64
	slot int32
}

func (a entry) before(b entry) bool { return a.at < b.at || a.at == b.at && a.seq < b.seq }

// queue holds events by time, over a slab of them that is reused and never shrinks. Nearly all that is added comes within the
// next few events, so the nearest entries lie sorted, the first of them last: adding one moves the few that come before it, and
// taking the first is to shorten the list. What is farther off than they are waits in a heap, four children each.
type queue struct {
	near  []entry // from the last to the first
	far   []entry // a heap; none of it comes before anything near
	slab  []event
	free  []int32
	added uint64
}

// mostNear is how many entries lie sorted, at most.
const mostNear = 64

// add makes room for an event at a time and returns it to be filled in: what its kind does not use is of no meaning. The pointer holds
// until the next add.
func (q *queue) add(at time.Duration) *event {
	var slot int32
	if n := len(q.free); n > 0 {
		slot, q.free = q.free[n-1], q.free[:n-1]
	} else {
		slot = int32(len(q.slab))
		q.slab = append(q.slab, event{})
	}
	q.put(at, slot)
	return &q.slab[slot]
}

// put queues an event that is in the slab already.
func (q *queue) put(at time.Duration, slot int32) {
	q.added++
	e := entry{at, q.added, slot}
	if len(q.far) > 0 && !e.before(q.far[0]) {
		q.putOff(e)
		return
	}
	if len(q.near) == mostNear {
		for _, last := range q.near[:mostNear/2] {
			q.putOff(last)
		}
		q.near = q.near[:copy(q.near, q.near[mostNear/2:])]
		if !e.before(q.far[0]) {
			q.putOff(e)
			return
		}
	}
	q.near = append(q.near, e)
	i := len(q.near) - 1
	for i > 0 && q.near[i-1].before(e) {
		q.near[i] = q.near[i-1]
		i--
	}
	q.near[i] = e
}

// due reports whether an event comes by then.
func (q *queue) due(by time.Duration) bool {
	if n := len(q.near); n > 0 {
		return q.near[n-1].at <= by
	}
	return len(q.far) > 0 && q.far[0].at <= by
}

// pop takes the first event off the queue. It stays in the slab until release.
func (q *queue) pop() entry {
	if len(q.near) == 0 {
		for len(q.far) > 0 && len(q.near) < mostNear/2 {
			q.near = append(q.near, q.fetch())
		}
		slices.Reverse(q.near)
	}
	n := len(q.near) - 1
	first := q.near[n]
	q.near = q.near[:n]
	return first
}

// release gives an event's place back. It also drops what the event referred to.
func (q *queue) release(slot int32) {
	switch e := &q.slab[slot]; e.kind {
	case deliver, handle, lost:
		e.msg = election.Message{}
	case call, hosted, belated:
		e.fn = nil
	}
	q.free = append(q.free, slot)
}

// entries are all that is queued, in no order.
func (q *queue) entries() iter.Seq[entry] {
	return func(yield func(entry) bool) {
		for _, all := range [...][]entry{q.near, q.far} {
			for _, e := range all {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// putOff adds an entry to the heap.
func (q *queue) putOff(e entry) {
	q.far = append(q.far, e)
	i := len(q.far) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !e.before(q.far[up]) {
			break
		}
		q.far[i] = q.far[up]
		i = up
	}
	q.far[i] = e
}

// fetch takes the first entry off the heap.
func (q *queue) fetch() entry {
	first := q.far[0]
	n := len(q.far) - 1
	e := q.far[n]
	q.far = q.far[:n]
	if n == 0 {
		return first
	}
	i := 0
	for {
		child := 4*i + 1
		if child >= n {
			break
		}
		least := child
		for c := child + 1; c < min(child+4, n); c++ {
			if q.far[c].before(q.far[least]) {
				least = c
			}
		}
		if !q.far[least].before(e) {
			break
		}
		q.far[i] = q.far[least]
		i = least
	}
	q.far[i] = e
	return first
}
