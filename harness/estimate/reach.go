package estimate

import (
	"encoding/binary"
	"errors"
	"iter"
	"maps"
	"slices"
)

// Reach is what sets of runs have reached together, where the runs are made apart: in other processes, on other machines. The
// zero value is that of no runs. To merge one in again changes nothing, and neither does the order. It is not for several
// goroutines at once.
//
// A key stands for what was reached; keys are hashes of 32 bits, of which a million have some hundred pairs in common.
type Reach struct {
	by map[uint32]uint64 // the run that alone has reached it, or shared
}

const shared = 0

// Add counts what a run has reached. Run is a number of its own among all runs that are ever merged, and not 0.
func (r *Reach) Add(run uint64, keys iter.Seq[uint32]) {
	for k := range keys {
		r.note(k, run)
	}
}

func (r *Reach) note(key uint32, run uint64) {
	if r.by == nil {
		r.by = map[uint32]uint64{}
	}
	if by, known := r.by[key]; !known {
		r.by[key] = run
	} else if by != run {
		r.by[key] = shared
	}
}

// Forget takes out what only one run has reached, of those that of names.
func (r *Reach) Forget(of func(run uint64) bool) {
	maps.DeleteFunc(r.by, func(_ uint32, run uint64) bool { return run != shared && of(run) })
}

// Keys is how many different keys were reached.
func (r *Reach) Keys() int { return len(r.by) }

// Chance estimates, as Unseen does, how likely one more run is to reach a key that none of so many runs has reached.
func (r *Reach) Chance(runs int) Rate {
	alone := map[uint64]struct{}{}
	for _, run := range r.by {
		if run != shared {
			alone[run] = struct{}{}
		}
	}
	return interval(len(alone), runs, 2)
}

// MarshalBinary writes the keys in order, each by its distance from the one before, and then whose those are that one run
// alone has reached: some three bytes a key.
func (r *Reach) MarshalBinary() ([]byte, error) {
	keys := slices.Sorted(maps.Keys(r.by))
	b := binary.AppendUvarint(nil, uint64(len(keys)))
	last := uint32(0)
	for _, k := range keys {
		alone := uint64(0)
		if r.by[k] != shared {
			alone = 1
		}
		b = binary.AppendUvarint(b, uint64(k-last)<<1|alone)
		last = k
	}
	for _, k := range keys {
		if run := r.by[k]; run != shared {
			b = binary.LittleEndian.AppendUint64(b, run)
		}
	}
	return b, nil
}

var errReach = errors.New("what was reached is cut short")

// MergeBinary adds what MarshalBinary wrote of other runs; no bytes are those of no runs. What is cut short may have been added in part.
func (r *Reach) MergeBinary(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	next := func() (v uint64, ok bool) {
		v, n := binary.Uvarint(b)
		if n > 0 {
			b = b[n:]
		}
		return v, n > 0
	}
	count, ok := next()
	if !ok || count > uint64(len(b)) {
		return errReach
	}
	alone := make([]uint32, 0, count)
	last := uint32(0)
	for range count {
		v, ok := next()
		if !ok {
			return errReach
		}
		last += uint32(v >> 1)
		if v&1 == 1 {
			alone = append(alone, last)
		} else {
			r.note(last, shared)
		}
	}
	if len(b) != 8*len(alone) {
		return errReach
	}
	for i, k := range alone {
		r.note(k, binary.LittleEndian.Uint64(b[8*i:]))
	}
	return nil
}
