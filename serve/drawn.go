package serve

import (
	"sync"
	"time"
)

// drawn keeps what was drawn of runs, as far as memory goes: a picture of a million ops takes half a second.
type drawn struct {
	mu   sync.Mutex
	kept recent[drawing, []byte]
}

type drawing struct{ id, what string }

const mostDrawn = 32 << 20 // bytes

// get returns a drawing of a run whose files were written last at some time, or draws it.
func (d *drawn) get(id, what string, was time.Time, draw func() ([]byte, error)) ([]byte, error) {
	key := drawing{id, what}
	if b := d.find(key, was); b != nil {
		return b, nil
	}
	b, err := draw()
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kept.add(&entry[drawing, []byte]{key, was, b, len(b)})
	return b, nil
}

func (d *drawn) find(key drawing, was time.Time) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.kept.get(key, was); e != nil {
		return e.value
	}
	return nil
}
