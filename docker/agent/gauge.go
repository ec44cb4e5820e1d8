//go:build linux

package agent

import (
	"slices"
	"time"
)

// gauge measures one link.
func (a *agent) gauge(g Gauge) (*Gauged, error) {
	from, err := a.place(g.From)
	if err != nil {
		return nil, err
	}
	to, err := a.place(g.To)
	if err != nil {
		return nil, err
	}
	samples, err := send([]probe{{from: from, to: to, count: g.Count, every: g.Every, size: g.Size, wait: g.Wait}})
	if err != nil {
		return nil, err
	}
	s := samples[0]
	got := &Gauged{Sent: len(s.sent), Twice: s.twice, Early: s.overtaken(), Took: s.took}
	got.Delays = slices.DeleteFunc(s.delays, func(d time.Duration) bool { return d == unarrived })
	return got, nil
}
