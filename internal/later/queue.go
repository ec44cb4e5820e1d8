// Package later keeps what is to come until its time has come.
package later

import "time"

// Queue holds things by their times, and those of one time in the order in which they were added. The zero value is empty. It is not safe
// for concurrent use.
type Queue[V any] struct {
	heap  []entry[V] // four below each
	added uint64
}

type entry[V any] struct {
	at  time.Duration
	seq uint64
	v   V
}

func (e *entry[V]) before(o *entry[V]) bool { return e.at < o.at || e.at == o.at && e.seq < o.seq }

// Add adds what comes at a time.
func (q *Queue[V]) Add(at time.Duration, v V) {
	q.added++
	q.put(entry[V]{at, q.added, v})
}

// Next is when the first comes, if there is any.
func (q *Queue[V]) Next() (at time.Duration, some bool) {
	if len(q.heap) == 0 {
		return 0, false
	}
	return q.heap[0].at, true
}

// Take takes the first off the queue if it comes by a time.
func (q *Queue[V]) Take(by time.Duration) (v V, some bool) {
	if len(q.heap) == 0 || q.heap[0].at > by {
		return v, false
	}
	first, n := q.heap[0], len(q.heap)-1
	last := q.heap[n]
	q.heap[n] = entry[V]{}
	if q.heap = q.heap[:n]; n > 0 {
		q.sink(last)
	}
	return first.v, true
}

// Remove takes off the queue whatever gone is true of. The others keep their order.
func (q *Queue[V]) Remove(gone func(V) bool) {
	all := q.heap
	q.heap = q.heap[:0]
	for _, e := range all {
		if !gone(e.v) {
			q.put(e)
		}
	}
	clear(all[len(q.heap):])
}

// put finds the place of one more entry.
func (q *Queue[V]) put(e entry[V]) {
	q.heap = append(q.heap, e)
	i := len(q.heap) - 1
	for i > 0 && e.before(&q.heap[(i-1)/4]) {
		q.heap[i] = q.heap[(i-1)/4]
		i = (i - 1) / 4
	}
	q.heap[i] = e
}

// sink finds the place of an entry when the first one is gone.
func (q *Queue[V]) sink(e entry[V]) {
	i, n := 0, len(q.heap)
	for {
		least := 4*i + 1
		if least >= n {
			break
		}
		for c := least + 1; c < min(4*i+5, n); c++ {
			if q.heap[c].before(&q.heap[least]) {
				least = c
			}
		}
		if !q.heap[least].before(&e) {
			break
		}
		q.heap[i] = q.heap[least]
		i = least
	}
	q.heap[i] = e
}
