package checkers

import (
	"slices"
	"sync"

	"recount/history"
)

// notes are what oracles have worked out of a history: each asks the same of it again and again.
type notes struct {
	of     *history.History
	worked map[string]any
}

// known are the notes of the latest histories. What is no more among them is worked out again.
var known struct {
	sync.Mutex
	latest []notes
}

// noted works something out of a history, unless it is known. Nobody may change what it returns.
func noted[T any](h *history.History, what string, work func() T) T {
	look := func() map[string]any {
		k := slices.IndexFunc(known.latest, func(n notes) bool { return n.of == h })
		if k < 0 {
			known.latest = append(known.latest[max(0, len(known.latest)-15):], notes{h, map[string]any{}})
			k = len(known.latest) - 1
		}
		return known.latest[k].worked
	}
	known.Lock()
	is, ok := look()[what]
	known.Unlock()
	if ok {
		return is.(T)
	}
	worked := work()
	known.Lock()
	defer known.Unlock()
	look()[what] = worked
	return worked
}
