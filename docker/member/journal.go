package member

import (
	"sync"

	"recount/history"
)

// Mark is a place in what a node has announced.
type Mark struct {
	Life uint64 `json:"life"` // counts the node's processes from 1
	Seq  uint64 `json:"seq"`  // counts the announcements of one process from 1
}

// Announcement is a change of view, a vote given, or an update applied, that a node reports by itself.
type Announcement struct {
	Mark
	Lost   uint64        // so many announcements before this one were not kept
	View   *history.View // or
	Vote   *history.Vote // or
	Update *history.Update
}

// kept is how many announcements a journal keeps for clients that are away.
const kept = 1 << 16

// journal is what one process has announced.
type journal struct {
	life uint64

	mu    sync.Mutex
	last  uint64         // Seq of the newest announcement
	ring  []Announcement // the newest ones, by Seq modulo kept
	grown chan struct{}  // closed at the next announcement
}

func newJournal(life uint64) *journal { return &journal{life: life, grown: make(chan struct{})} }

// add announces a, whose Mark it fills in.
func (j *journal) add(a Announcement) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last++
	a.Mark = Mark{j.life, j.last}
	if len(j.ring) < kept {
		j.ring = append(j.ring, a)
	} else {
		j.ring[(j.last-1)%kept] = a
	}
	close(j.grown)
	j.grown = make(chan struct{})
}

// after returns the announcements that follow m, oldest first, and a channel that is closed when there are more. All
// announcements of this process follow a mark in a former one.
func (j *journal) after(m Mark) (list []Announcement, grown <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	seq := m.Seq
	if m.Life != j.life {
		seq = 0
	}
	lost := uint64(0)
	if oldest := j.last - uint64(len(j.ring)); seq < oldest {
		seq, lost = oldest, oldest-seq
	}
	for ; seq < j.last; seq++ {
		list = append(list, j.ring[seq%kept])
	}
	if lost > 0 && len(list) > 0 {
		list[0].Lost = lost
	}
	return list, j.grown
}
