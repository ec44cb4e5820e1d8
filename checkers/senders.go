package checkers

import (
	"slices"
	"sort"
)

// senders are whom the updates of each number came from, as far as that was told. Leaders count their updates, so that they are
// kept as stretches of numbers with one sender: as many as leaderships and gaps between numbers, however many updates.
type senders struct {
	chunks [][]stretch // all stretches in order, in parts that are short enough to insert one; none is empty
	names  names
	count  int // numbers that are known
}

// stretch is numbers of one term that follow one another, the updates of which came from one sender.
type stretch struct {
	term, first, last uint64
	from              int32 // in names; 0 if it was not told
}

func newSenders() senders { return senders{names: newNames()} }

// mostInChunk is how many stretches a chunk has at most.
const mostInChunk = 512

// tell takes note of who an update came from, and returns who had been told first. Who was not told is told by whoever comes
// next.
func (s *senders) tell(n number, from string) (first string, known bool) {
	k := s.names.of(from)
	c, i := s.find(n)
	if i >= 0 {
		at := &s.chunks[c][i]
		if at.term == n.term && n.counter <= at.last {
			was := at.from
			if was == 0 && k != 0 {
				s.replace(c, i, n, k)
			}
			return s.names.all[was], true
		}
	}
	s.count++
	s.insert(c, i, n, k)
	return "", false
}

// find returns the last stretch that begins no later than a number: its chunk and its place there, or -1.
func (s *senders) find(n number) (chunk, place int) {
	later := func(at *stretch) bool { return at.term > n.term || at.term == n.term && at.first > n.counter }
	c := sort.Search(len(s.chunks), func(c int) bool { return later(&s.chunks[c][0]) }) - 1
	if c < 0 {
		return -1, -1
	}
	return c, sort.Search(len(s.chunks[c]), func(i int) bool { return later(&s.chunks[c][i]) }) - 1
}

// insert adds a number that is not known behind a stretch: to it, to the one after it, or as one of its own.
func (s *senders) insert(c, i int, n number, from int32) {
	if len(s.chunks) == 0 {
		s.chunks = [][]stretch{nil}
	}
	c = max(c, 0)
	all := s.chunks[c]
	joins := func(i int) bool { return i >= 0 && i < len(all) && all[i].term == n.term && all[i].from == from }
	behind := joins(i) && all[i].last+1 == n.counter
	before := joins(i+1) && all[i+1].first == n.counter+1
	switch {
	case behind && before:
		all[i].last = all[i+1].last
		s.chunks[c] = slices.Delete(all, i+1, i+2)
	case behind:
		all[i].last = n.counter
	case before:
		all[i+1].first = n.counter
	default:
		s.chunks[c] = slices.Insert(all, i+1, stretch{n.term, n.counter, n.counter, from})
		s.split(c)
	}
}

// replace has a number within a stretch come from somebody else.
func (s *senders) replace(c, i int, n number, from int32) {
	at := s.chunks[c][i]
	var rest []stretch
	if at.first < n.counter {
		rest = append(rest, stretch{n.term, at.first, n.counter - 1, at.from})
	}
	behind := len(rest)
	if n.counter < at.last {
		rest = append(rest, stretch{n.term, n.counter + 1, at.last, at.from})
	}
	s.chunks[c] = slices.Replace(s.chunks[c], i, i+1, rest...)
	s.insert(c, i+behind-1, n, from)
}

// split cuts a chunk that has grown too long.
func (s *senders) split(c int) {
	if all := s.chunks[c]; len(all) > mostInChunk {
		half := len(all) / 2
		s.chunks = slices.Insert(s.chunks, c+1, slices.Clone(all[half:]))
		s.chunks[c] = slices.Clip(all[:half])
	}
}

// leaderships is how many terms and senders go together, beside some others. A sender that was not told may have been any
// other of its term.
func (s *senders) leaderships(others map[leader]bool) (count int) {
	in := map[uint64][]leader{}
	for l := range others {
		in[l.term] = append(in[l.term], l)
	}
	var term uint64
	told, untold := map[string]bool{}, false // untold: somebody was not by now; where nobody was told, that is somebody of this term
	end := func() {
		for _, l := range in[term] {
			told[l.from] = true
		}
		if count += len(told); len(told) == 0 && untold {
			count++
		}
		clear(told)
	}
	for _, all := range s.chunks {
		for _, at := range all {
			if at.term != term {
				end()
				term = at.term
			}
			if at.from == 0 {
				untold = true
			} else {
				told[s.names.all[at.from]] = true
			}
		}
	}
	end()
	return count
}

// size is about how many bytes that takes.
func (s *senders) size() (bytes int) {
	for _, all := range s.chunks {
		bytes += room(all)
	}
	return bytes
}
