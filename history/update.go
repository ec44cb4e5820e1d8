package history

// Apply is ok without an invoke: a node reported that it applied an update of a leader's.
const Apply F = "apply"

// Update is what a leader had its followers do. Leaders number their updates: by their term first, then by a counter.
type Update struct {
	Term    uint64 `json:"term,omitempty"`
	Counter uint64 `json:"counter"`
	From    string `json:"from,omitempty"` // the leader
}

// Update returns what an Apply carries, or nil.
func (op *Op) Update() *Update {
	u, _ := op.Value.(*Update)
	return u
}

func init() {
	update := valued[Update]()
	update.scan = func(s *scanner, op *Op) {
		u := new(Update)
		op.Value = u
		s.skip(`{`)
		if s.at(`"term":`) {
			u.Term = s.count()
			s.skip(`,`)
		}
		s.skip(`"counter":`)
		u.Counter = s.count()
		if s.at(`,"from":`) {
			u.From = s.text()
		}
		s.skip(`}`)
	}
	register(kind{name: Apply, alone: happened, ofNode: true, value: update, when: always})
}
