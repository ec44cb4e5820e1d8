package checkers

import (
	"maps"
	"slices"
	"sort"

	"recount/checkers/linear"
)

// counted is what is known of the revisions of one register of a store that counts all writes to all of its registers.
type counted struct {
	*object
	writes    map[uint64]*write     // whose revisions are known
	last      map[uint64]*linear.Op // who told each revision, called last
	read      map[int32]bool        // values of which a read tells the revision: who wrote them is not silent
	revisions []uint64              // in their order
	found     *finders
}

// revisions are the writes of a register whose revisions are known, in their order, and those that certainly happened and whose revisions
// nobody knows.
func (o *object) revisions() (all []write, silent []silentWrite) {
	c := &counted{object: o, writes: map[uint64]*write{}, last: map[uint64]*linear.Op{}, read: map[int32]bool{}}
	c.hear()
	silent = c.silent()
	return c.bounded(silent), silent
}

// hear takes down what operations tell of revisions.
func (c *counted) hear() {
	untold := map[int32]*linear.Op{} // who wrote each value and told no revision, called first,
	until := map[int32]*linear.Op{}  // and done last
	for i := range c.Ops {           // in the order of their calls
		u := &c.Ops[i]
		if u.Revision == 0 {
			if u.Kind == linear.Get {
				continue
			}
			if untold[u.Value] == nil {
				untold[u.Value], until[u.Value] = u, u
			}
			if u.Return > until[u.Value].Return {
				until[u.Value] = u
			}
			continue
		}
		w := c.writes[u.Revision]
		if w == nil {
			w = &write{object: c.object, revision: u.Revision, to: bound{at: never}}
			c.writes[u.Revision] = w
		}
		if u.Return < w.to.at {
			w.to, w.told = bound{at: u.Return, by: u}, u
		}
		if u.Kind != linear.Get {
			w.from = bound{at: u.Call, by: u}
		}
		c.last[u.Revision] = u
	}
	for n, u := range c.last {
		if w := c.writes[n]; w.from.by == nil { // nobody told that it wrote it, but somebody did: at first the revision was 0
			first := untold[u.Value]
			w.from = bound{at: first.Call, by: first}
			if last := until[u.Value]; last.Return < w.to.at {
				w.to = bound{at: last.Return, by: last}
			}
			c.read[u.Value] = true
		}
	}
	c.revisions = slices.Sorted(maps.Keys(c.last))
}

// silent are the writes that certainly happened and whose revisions nobody knows, each with the known revisions of the register that it
// stands between.
func (c *counted) silent() (all []silentWrite) {
	var latest []*linear.Op // of those who told a revision up to each, in their order, who was called last
	valued := map[int32]*linear.Op{}
	for _, revision := range c.revisions {
		u := c.last[revision]
		if valued[u.Value] == nil {
			valued[u.Value] = u
		}
		if n := len(latest); n > 0 && latest[n-1].Call > u.Call {
			u = latest[n-1]
		}
		latest = append(latest, u)
	}
	settled := c.Settled()
	c.found = c.finders(settled, valued)
	for i := range settled {
		u := &settled[i]
		if u.Revision != 0 || u.Kind == linear.Get || !u.Sure() || c.read[u.Value] {
			continue
		}
		s := silentWrite{object: c.object, op: u, told: c.found.told[u.Begin], shown: c.found.shown(u)}
		if after := sort.Search(len(latest), func(i int) bool { return latest[i].Call > u.Return }); after < len(latest) {
			s.seen = latest[after] // the register held that once the write was done
		}
		if next := c.found.next[u.Value]; next != nil && u.Brings() {
			if s.seen == nil || next.Revision < s.seen.Revision {
				s.seen = next
			}
			if before, _ := slices.BinarySearch(c.revisions, next.Revision); before > 0 {
				s.follow(c.last[c.revisions[before-1]])
			}
		}
		if b := c.found.basis(u); b.known {
			s.finders = c.found
			if b.revision > 0 {
				s.follow(c.last[b.revision])
			}
			next := sort.Search(len(c.revisions), func(i int) bool { return c.revisions[i] > b.revision })
			if next < len(c.revisions) && (s.seen == nil || c.revisions[next] < s.seen.Revision) {
				s.seen = c.last[c.revisions[next]]
			}
		}
		all = append(all, s)
	}
	return all
}

// bounded are the writes whose revisions are known, in their order, each between the closest times that are known of it.
func (c *counted) bounded(silent []silentWrite) []write {
	all := make([]write, 0, len(c.revisions))
	for _, revision := range c.revisions {
		w := *c.writes[revision]
		if n := len(all); n > 0 {
			if r := c.last[all[n-1].revision]; r.Call > w.from.at {
				w.from = bound{at: r.Call, by: r}
			}
		}
		all = append(all, w)
	}
	if r := c.found.unused; r != nil && len(all) > 0 && r.Call > all[0].from.at {
		all[0].from = bound{at: r.Call, by: r}
	}
	place := func(of *linear.Op) *write {
		i, _ := slices.BinarySearch(c.revisions, of.Revision)
		return &all[i]
	}
	for i := range silent {
		s := &silent[i]
		if s.seen != nil {
			if w := place(s.seen); s.op.Call > w.from.at {
				w.from = bound{s.op.Call, s.told, s}
			}
		}
		if s.since != nil {
			if w := place(s.since); s.op.Return < w.to.at {
				w.to = bound{s.op.Return, s.told, s}
			}
		}
	}
	return all
}
