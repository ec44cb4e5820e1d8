package serve

import (
	"sync"
	"time"
)

// digests are those of all runs. They are read once somebody asks for what needs them, one after the other while others are answered,
// and kept for as long as the server runs: some kilobytes a run.
type digests struct {
	read func(id string) (*digest, error)

	mu   sync.Mutex
	kept map[string]digested
	busy bool
}

type digested struct {
	*digest // nil for a run that cannot be read
	stamp   stamp
	read    time.Time // when it was tried
}

// patient is how long a page waits for digests, rather than to say that some are missing.
const patient = 300 * time.Millisecond

// of returns the digests of runs, those that could be had soon, and how many are still missing. The digest of a run that cannot be
// read is left out, and tried again after a while: a bucket may have been away for a moment.
func (d *digests) of(runs []*Run) (have map[*Run]*digest, missing int) {
	end := time.Now().Add(patient)
	for {
		have, missing = d.now(runs)
		if missing == 0 || time.Now().After(end) {
			return have, missing
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (d *digests) now(runs []*Run) (have map[*Run]*digest, missing int) {
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
		} else if time.Since(k.read) > recheck {
			again = append(again, r)
		}
	}
	if todo := append(want, again...); len(todo) > 0 && !d.busy {
		d.busy = true
		go d.fill(todo)
	}
	return have, len(want)
}

// fill reads what is missing.
func (d *digests) fill(want []*Run) {
	for _, r := range want {
		got, err := d.read(r.ID)
		if err != nil {
			got = nil // the run's page tells what is wrong
		}
		d.mu.Lock()
		if d.kept == nil {
			d.kept = map[string]digested{}
		}
		d.kept[r.ID] = digested{got, r.stamp, time.Now()}
		d.mu.Unlock()
	}
	d.mu.Lock()
	d.busy = false
	d.mu.Unlock()
}
