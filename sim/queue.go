package sim

import (
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

// queue holds events by time: a heap of small entries, four children each so that a sift touches few cache lines, over
// a slab of events that is reused and never shrinks.
type queue struct {
	heap  []entry
	slab  []event
	free  []int32
	added uint64
}

// add makes room for an event at a time and returns it to be filled in. The pointer holds until the next add.
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
	q.heap = append(q.heap, e)
	i := len(q.heap) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !e.before(q.heap[up]) {
			break
		}
		q.heap[i] = q.heap[up]
		i = up
	}
	q.heap[i] = e
}

// pop takes the first event off the queue. It stays in the slab until release.
func (q *queue) pop() entry {
	first := q.heap[0]
	n := len(q.heap) - 1
	e := q.heap[n]
	q.heap = q.heap[:n]
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
			if q.heap[c].before(q.heap[least]) {
				least = c
			}
		}
		if !q.heap[least].before(e) {
			break
		}
		q.heap[i] = q.heap[least]
		i = least
	}
	q.heap[i] = e
	return first
}

// release gives an event's place back. It also drops what the event referred to.
func (q *queue) release(slot int32) {
	q.slab[slot] = event{}
	q.free = append(q.free, slot)
}
