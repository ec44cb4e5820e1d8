package harness

import (
	"time"

	"recount/harness/record"
)

// keepMessages begins to keep what the nodes of a run send each other in its folder, and returns what ends that.
func (r *run) keepMessages(dir string) (end func() error, err error) {
	if dir == "" || r.On == record.OnSim {
		return func() error { return nil }, nil
	}
	w, err := record.CreateMessages(dir, r.Compress)
	if err != nil {
		return nil, err
	}
	last := time.Duration(0)
	r.messages = func(m *record.Message) {
		if w.Add(m); w.Left() == 0 {
			last = m.Arrived
		}
		if !record.Repeats(r.On) { // others may be looking
			w.Flush()
		}
	}
	return func() error {
		if r.lastMessages != nil {
			r.lastMessages()
		}
		if n := w.Left(); n > 0 {
			r.note("messages are kept until %v, the first %d: there were %d more", last.Round(time.Second), record.MostMessages, n)
		}
		return w.Close()
	}, nil
}
