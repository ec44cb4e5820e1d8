package serve

import (
	"slices"
	"sync"
	"time"
)

// drawn keeps what was drawn of runs, as far as memory goes: a picture of a million ops takes half a second.
type drawn struct {
	mu   sync.Mutex
	kept []*drawing // the one used last is the last
	size int
}

type drawing struct {
	id, what string
	was      time.Time // when the run's files were written
	b        []byte
}

const mostDrawn = 32 << 20 // bytes

// get returns a drawing of a run whose files were written last at some time, or draws it.
func (d *drawn) get(id, what string, was time.Time, draw func() ([]byte, error)) ([]byte, error) {
	if b := d.find(id, what, was); b != nil {
		return b, nil
	}
	b, err := draw()
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kept = append(d.kept, &drawing{id, what, was, b})
	for d.size += len(b); d.size > mostDrawn && len(d.kept) > 1; d.kept = d.kept[1:] {
		d.size -= len(d.kept[0].b)
	}
	return b, nil
}

func (d *drawn) find(id, what string, was time.Time) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.kept, func(k *drawing) bool { return k.id == id && k.what == what })
	if i < 0 {
		return nil
	}
	k := d.kept[i]
	d.kept = slices.Delete(d.kept, i, i+1)
	if !k.was.Equal(was) {
		d.size -= len(k.b)
		return nil
	}
	d.kept = append(d.kept, k)
	return k.b
}
