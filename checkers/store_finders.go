package checkers

import "recount/checkers/linear"

// finders are who found what in a register.
type finders struct {
	told   map[int32]*linear.Op // all uses, by their beginnings, as they were told
	first  map[int32]*linear.Op // who surely found each value, and was done first
	next   map[int32]*linear.Op // who found what one alone can have written, and wrote another of a known revision: what follows that
	unused *linear.Op           // who was called last of those that found what the register held at first, if nobody can have left that behind again
	left   map[int32]*linear.Op // who alone can have left each value behind; nil where several can
	valued map[int32]*linear.Op // who told the revision of each value, the lowest
	bases  map[int32]basis      // of writes, by their beginnings, once they were asked for
}

// finders tells who found what, given the uses that may have happened, and who told the revision of each value.
func (o *object) finders(settled []linear.Op, valued map[int32]*linear.Op) *finders {
	f := &finders{
		told: map[int32]*linear.Op{}, first: map[int32]*linear.Op{}, next: map[int32]*linear.Op{}, left: map[int32]*linear.Op{},
		valued: valued, bases: map[int32]basis{},
	}
	for i := range o.Ops {
		f.told[o.Ops[i].Begin] = &o.Ops[i]
	}
	writers := map[int32]int{} // of each value
	for i := range settled {
		u := &settled[i]
		if u.Brings() {
			writers[u.Value]++
		}
		if u.Kind == linear.Get {
			continue
		}
		if _, again := f.left[u.Value]; again {
			f.left[u.Value] = nil
		} else {
			f.left[u.Value] = u
		}
	}
	for i := range settled {
		u := &settled[i]
		v, looked := u.Found()
		if !looked || !u.Sure() {
			continue
		}
		if by := f.first[v]; by == nil || u.Return < by.Return {
			f.first[v] = u
		}
		if u = f.told[u.Begin]; !u.Sure() {
			continue
		}
		if by := f.next[v]; u.Kind == linear.CAS && u.Revision != 0 && v != 0 && writers[v] == 1 && (by == nil || u.Revision < by.Revision) {
			f.next[v] = u
		}
		if _, again := f.left[0]; v == 0 && !again {
			f.unused = u // they are in the order of their calls
		}
	}
	return f
}

// shown are those who show that a write happened of which nobody knows what came: who found what it wrote, and if nobody knows what came of
// that, either, who found what that wrote, and so on.
func (f *finders) shown(u *linear.Op) (by []*linear.Op) {
	for !f.told[u.Begin].Sure() {
		u = f.first[u.Value]
		by = append(by, f.told[u.Begin])
	}
	return by
}

// before is the write that alone can have left behind what a compare-and-set found, nil for what the register held at first, and who told
// its revision, if anybody did. Of other writes nobody knows, nor where what the register held at first was written again.
func (f *finders) before(u *linear.Op) (write, told *linear.Op, ok bool) {
	v, looked := u.Found()
	if !looked {
		return nil, nil, false
	}
	write, written := f.left[v]
	if write == nil || v == 0 {
		return nil, nil, v == 0 && !written
	}
	return write, f.valued[v], true
}

// basis is the known revision that a write came after, with only writes between whose revisions nobody knows. 0 is what the register held
// at first.
type basis struct {
	revision uint64
	known    bool
}

// basis tells the basis of a write, by what it found, and what those found that left that behind.
func (f *finders) basis(u *linear.Op) (b basis) {
	var way []int32
	for {
		if was, known := f.bases[u.Begin]; known {
			b = was
			break
		}
		f.bases[u.Begin] = b // what was found in a circle did not happen
		way = append(way, u.Begin)
		write, told, ok := f.before(u)
		if told != nil {
			b = basis{told.Revision, true}
			break
		}
		if write == nil {
			b.known = ok
			break
		}
		u = write
	}
	for _, begin := range way {
		f.bases[begin] = b
	}
	return b
}

// based are those who show the basis of a write, which is known.
func (f *finders) based(u *linear.Op) (by []*linear.Op) {
	for {
		write, told, _ := f.before(u)
		if write == nil {
			return by
		}
		if by = append(by, f.told[write.Begin]); told != nil {
			return append(by, told)
		}
		u = write
	}
}
