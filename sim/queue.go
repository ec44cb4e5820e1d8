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
	look                // who watches the process of node looks at its status
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
// taking the first is to shorten the list. What is farther off than they are waits in a heap, four children each. What comes
// after one of the delays that are asked for again and again has a lane: it comes in the order in which it was added.
type queue struct {
	lanes []lane
	near  []entry // from the last to the first
	far   []entry // a heap; none of it comes before anything near
	slab  []event
	free  []int32
	added uint64
}

// lane is what comes after one delay, from the first to the last.
type lane struct {
	delay   time.Duration
	entries []entry
	gone    int // of them
}

// add adds an entry behind all others, and reports whether it comes behind them.
func (l *lane) add(e entry) bool {
	n := len(l.entries)
	if n > l.gone && e.before(l.entries[n-1]) {
		return false
	}
	if n == cap(l.entries) && l.gone > n/2 {
		l.entries, l.gone = l.entries[:copy(l.entries, l.entries[l.gone:])], 0
	}
	l.entries = append(l.entries, e)
	return true
}

// mostNear is how many entries lie sorted, at most.
const mostNear = 64

// add makes room for an event at a time and returns it to be filled in: what its kind does not use is of no meaning. The pointer holds
// until the next add.
func (q *queue) add(at time.Duration) *event {
	slot := q.room()
	q.put(at, slot)
	return &q.slab[slot]
}

// addAfter is add of what comes at a time since it was asked for after a delay.
func (q *queue) addAfter(delay, at time.Duration) *event {
	slot := q.room()
	q.putAfter(delay, at, slot)
	return &q.slab[slot]
}

// room is a free place in the slab.
func (q *queue) room() (slot int32) {
	if n := len(q.free); n > 0 {
		slot, q.free = q.free[n-1], q.free[:n-1]
	} else {
		slot = int32(len(q.slab))
		q.slab = append(q.slab, event{})
	}
	return slot
}

// putAfter queues an event that is in the slab already, and that comes at a time since it was asked for after a delay.
func (q *queue) putAfter(delay, at time.Duration, slot int32) {
	for i := range q.lanes {
		if l := &q.lanes[i]; l.delay == delay && l.add(entry{at, q.added + 1, slot}) {
			q.added++
			return
		}
	}
	q.put(at, slot)
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

// first is the first event on the queue, or nil, and the lane that it waits in; nil if it is in none. The pointer holds until the next
// add.
func (q *queue) first() (e *entry, in *lane) {
	if len(q.near) == 0 && len(q.far) > 0 {
		q.approach()
	}
	if n := len(q.near); n > 0 {
		e = &q.near[n-1]
	}
	for i := range q.lanes {
		l := &q.lanes[i]
		if l.gone == len(l.entries) {
			continue
		}
		if first := &l.entries[l.gone]; e == nil || first.before(*e) {
			e, in = first, l
		}
	}
	return e, in
}

// approach sorts the first of what is far off, when nothing is near.
func (q *queue) approach() {
	for len(q.far) > 0 && len(q.near) < mostNear/2 {
		q.near = append(q.near, q.fetch())
	}
	slices.Reverse(q.near)
}

// pop takes the first event off the queue, which is in that lane, or in none. It stays in the slab until release.
func (q *queue) pop(in *lane) {
	if in != nil {
		in.gone++
	} else {
		q.near = q.near[:len(q.near)-1]
	}
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
		all := [][]entry{q.near, q.far}
		for i := range q.lanes {
			all = append(all, q.lanes[i].entries[q.lanes[i].gone:])
		}
		for _, some := range all {
			for _, e := range some {
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
