package serve

import (
	"slices"
	"time"
)

// recent keeps what was made of files, as far as there is room: what was used last is kept longest. It is not safe for concurrent use.
type recent[K comparable, V any] struct {
	room int            // for the sizes of all together; what was used last is kept whatever its size
	kept []*entry[K, V] // the one used last is the last
}

type entry[K comparable, V any] struct {
	key   K
	was   time.Time // when the files were written
	value V
	size  int
}

// get returns what is kept of files that were written last at some time, or nil. What was made of them as they were before is dropped.
func (r *recent[K, V]) get(key K, was time.Time) *entry[K, V] {
	i := slices.IndexFunc(r.kept, func(e *entry[K, V]) bool { return e.key == key })
	if i < 0 {
		return nil
	}
	e := r.kept[i]
	r.kept = slices.Delete(r.kept, i, i+1)
	if !e.was.Equal(was) {
		return nil
	}
	r.kept = append(r.kept, e)
	return e
}

// add keeps an entry, in place of one of its key.
func (r *recent[K, V]) add(e *entry[K, V]) {
	r.kept = slices.DeleteFunc(r.kept, func(k *entry[K, V]) bool { return k.key == e.key })
	r.kept = append(r.kept, e)
	r.settle()
}

// drop removes an entry.
func (r *recent[K, V]) drop(e *entry[K, V]) {
	r.kept = slices.DeleteFunc(r.kept, func(k *entry[K, V]) bool { return k == e })
}

// empty removes them all.
func (r *recent[K, V]) empty() { r.kept = nil }

// weigh says how large an entry has turned out to be. It counts as used, and takes no room if it was dropped meanwhile.
func (r *recent[K, V]) weigh(e *entry[K, V], size int) {
	e.size = size
	if slices.Contains(r.kept, e) {
		r.add(e)
	}
}

// settle lets go of what was used least lately, where there is too little room.
func (r *recent[K, V]) settle() {
	total := 0
	for i := len(r.kept) - 1; i >= 0; i-- {
		if total += r.kept[i].size; total > r.room {
			r.kept = slices.Delete(r.kept, 0, min(i+1, len(r.kept)-1))
			return
		}
	}
}
