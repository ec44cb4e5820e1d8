package linear

import (
	"context"
	"slices"

	"github.com/anishathalye/porcupine"
)

// Decide looks for an order of all operations on an object. It heeds the end of ctx, and the memory that it allows.
func (o *Object) Decide(ctx context.Context) Found {
	uses := o.prune(slices.Clone(o.Ops))
	if core := o.unwritten(uses); core != nil {
		return Found{Answer: porcupine.Illegal, core: core}
	}
	if clusters, ok := o.clusters(uses); ok {
		if torn(clusters) {
			return Found{Answer: porcupine.Illegal, core: uses}
		}
		return Found{Answer: porcupine.Ok}
	}
	m := memoryOf(ctx)
	m.mu.Lock() // searches like this one take turns
	defer m.mu.Unlock()
	return linearize(ctx, o, uses, State{}, m.bytes)
}

// unwritten returns the first use that found what nobody can have written by then, and who wrote it first, if anybody did.
func (o *Object) unwritten(uses []Op) []Op {
	first := make([]int, len(o.values)) // who wrote each value first, by its call
	for i := range first {
		first[i] = -1
	}
	for i := range uses {
		if u := &uses[i]; u.Kind != Get && u.Value != u.Old && first[u.Value] < 0 {
			first[u.Value] = i
		}
	}
	for i := range uses {
		u := &uses[i]
		found := u.found()
		if !u.Sure() || found <= 0 {
			continue
		}
		switch k := first[found]; {
		case k < 0:
			return []Op{*u}
		case uses[k].Call > u.Return:
			return []Op{*u, uses[k]}
		}
	}
	return nil
}

// clusters are the times of the values of a register whose writes can be told apart (see zones.go), the first one that
// of what it held at first. A write of unknown outcome that nobody read binds nobody. It is no such register if a write
// took what another had written, or if revisions bind them.
func (o *Object) clusters(uses []Op) (all []cluster, ok bool) {
	if o.Lock || o.counted {
		return nil, false
	}
	all = make([]cluster, len(o.values))
	for i := range all {
		all[i] = cluster{write: Never, finish: Never}
	}
	all[0] = cluster{write: -1, finish: -1, start: -1}
	for i := range uses {
		u := &uses[i]
		c := &all[u.Value]
		switch {
		case u.Kind == CAS || u.Kind == Put && c.write < Never:
			return nil, false
		case u.Kind == Put:
			c.write = u.Call
		}
		c.finish, c.start = min(c.finish, u.Return), max(c.start, u.Call)
	}
	return all, true
}
