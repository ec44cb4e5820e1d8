package serve

import (
	"context"
	"sync"
	"time"
)

// digests are those of all runs. They are read once somebody asks for what needs them, one after the other while others are answered,
// and kept for as long as the server runs: some kilobytes a run.
type digests struct {
	read  func(id string) (*digest, error)
	clock func() time.Time

	mu     sync.Mutex
	kept   map[string]digested
	busy   bool
	closed bool
	ended  chan struct{} // closed when what is being read, or was read last, has been
}

type digested struct {
	*digest // nil for a run that cannot be read
	stamp   stamp
	read    time.Time // when it was tried
}

// patient is how long a page waits for digests, rather than to say that some are missing.
const patient = 300 * time.Millisecond

// of returns the digests of runs, those that could be had soon, and how many are still missing. The digest of a run that cannot be
// read is left out, and tried again after a while: a bucket may have been away for a moment. It waits no longer than ctx lasts.
func (d *digests) of(ctx context.Context, runs []*Run) (have map[*Run]*digest, missing int) {
	within, cancel := context.WithTimeout(ctx, patient)
	defer cancel()
	for {
		var read <-chan struct{}
		have, missing, read = d.now(runs)
		if missing == 0 {
			return have, 0
		}
		select {
		case <-read:
		case <-within.Done():
			have, missing, _ = d.now(runs)
			return have, missing
		}
	}
}

// close ends the reading, and returns when nothing is read any more.
func (d *digests) close() {
	d.mu.Lock()
	d.closed = true
	ended := d.ended
	d.mu.Unlock()
	if ended != nil {
		<-ended
	}
}

// now returns the digests that are there, and has the others read; read is closed when those that are being read have been.
func (d *digests) now(runs []*Run) (have map[*Run]*digest, missing int, read <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	have = make(map[*Run]*digest, len(runs))
	var want, again []*Run
	for _, r := range runs {
		if r.State == UnderWay || r.State == Unreadable {
			continue
		}
		k, known := d.kept[r.ID]
		if !known || k.stamp != r.stamp {
			want = append(want, r)
		} else if k.digest != nil {
			have[r] = k.digest
		} else if d.clock().Sub(k.read) > recheck {
			again = append(again, r)
		}
	}
	if todo := append(want, again...); len(todo) > 0 && !d.busy && !d.closed {
		d.busy, d.ended = true, make(chan struct{})
		go d.fill(todo)
	}
	if d.busy {
		read = d.ended
	}
	return have, len(want), read
}

// fill reads what is missing.
func (d *digests) fill(want []*Run) {
	for _, r := range want {
		d.mu.Lock()
		closed := d.closed
		d.mu.Unlock()
		if closed {
			break
		}
		var got *digest
		if err := guarded(func() (err error) { got, err = d.read(r.ID); return err }); err != nil {
			got = nil // the run's page tells what is wrong
		}
		d.mu.Lock()
		if d.kept == nil {
			d.kept = map[string]digested{}
		}
		d.kept[r.ID] = digested{got, r.stamp, d.clock()}
		d.mu.Unlock()
	}
	d.mu.Lock()
	d.busy = false
	close(d.ended)
	d.mu.Unlock()
}
