package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"recount/docker/agent"
	"recount/harness/record"
	"recount/history"
	"recount/internal/count"
)

// countEvery is how much of a run in containers one message stands for: of what nodes send each other, and nobody can read, no more is
// known than how much it was.
const countEvery = time.Second

// traffic turns counts of what nodes in containers have sent each other into messages, one a link and second.
type traffic struct {
	nodes []string
	keep  func(m *record.Message)
	last  map[[2]string]agent.Traffic
	at    time.Duration

	captured *captured // nil where nobody can read what nodes say
}

// count keeps what has passed since the call before.
func (t *traffic) count(now time.Duration, all []agent.Traffic) {
	was, since := t.last, t.at
	t.last, t.at = map[[2]string]agent.Traffic{}, now
	for _, a := range all {
		t.last[[2]string{a.From, a.To}] = a
	}
	if was == nil {
		return
	}
	unread := func(string, string) string { return "" }
	if t.captured != nil {
		unread = t.captured.unread()
	}
	for _, from := range t.nodes {
		for _, to := range t.nodes {
			link := [2]string{from, to}
			before, is := was[link], t.last[link]
			if m, some := between(before, is); some {
				m.From, m.To, m.Sent, m.Arrived = from, to, since, now
				if m.Of.Unread = unread(from, to); m.Of.Unread != "" {
					m.Words += "; not all of it can be read: " + m.Of.Unread
				}
				t.keep(&m)
			}
		}
	}
}

// between is what has passed on a link from one look to the next; false for nothing.
func between(before, is agent.Traffic) (m record.Message, some bool) {
	of := &record.Traffic{
		Packets:        int64(is.Left.Packets - before.Left.Packets),
		PacketsArrived: int64(is.Came.Packets - before.Came.Packets),
		BytesArrived:   int64(is.Came.Bytes - before.Came.Bytes),
		Connections:    connections(before.Connections, is.Connections),
	}
	m = record.Message{Bytes: int64(is.Left.Bytes - before.Left.Bytes), Of: of}
	words := []string{fmt.Sprintf("%d bytes sent in %d packets", m.Bytes, of.Packets)}
	switch of.BytesArrived {
	case m.Bytes:
		words[0] += ", all arrived"
	case 0:
		words[0] += ", none arrived"
	default:
		words[0] += fmt.Sprintf(", %d bytes arrived", of.BytesArrived)
	}
	link := "the link is " + is.Link.Words()
	switch s := is.Link; {
	case s != (history.LinkState{}) && m.Bytes > 0 && of.BytesArrived == 0:
		m.Lost = link
	case s.Delay > 0 || s.Jitter > 0 || s.Rate > 0:
		m.Late = link
	}
	changed := false
	for _, c := range of.Connections {
		w := fmt.Sprintf("%s to port %d", count.Of(c.Open, "connection"), c.Port)
		if c.Opened > 0 {
			w += fmt.Sprintf(", %d of them new", c.Opened)
		}
		if c.Closed > 0 {
			w += fmt.Sprintf(", %d closed", c.Closed)
		}
		changed = changed || c.Opened+c.Closed > 0
		words = append(words, w)
	}
	m.Words = strings.Join(words, "; ")
	return m, m.Bytes > 0 || of.BytesArrived > 0 || changed
}

// connections counts, by port, those that were and those that are.
func connections(before, is []agent.Connection) (all []record.Connections) {
	at := func(port uint16) *record.Connections {
		i := slices.IndexFunc(all, func(c record.Connections) bool { return c.Port == int(port) })
		if i < 0 {
			i, all = len(all), append(all, record.Connections{Port: int(port)})
		}
		return &all[i]
	}
	for _, c := range is {
		n := at(c.Port)
		if n.Open++; !slices.Contains(before, c) {
			n.Opened++
		}
	}
	for _, c := range before {
		if !slices.Contains(is, c) {
			at(c.Port).Closed++
		}
	}
	slices.SortFunc(all, func(a, b record.Connections) int { return a.Port - b.Port })
	return all
}

// countTraffic keeps what nodes in containers send each other, second by second.
func (r *run) countTraffic(ctx context.Context, c *containers) {
	t := &traffic{nodes: r.names, keep: r.messages, captured: r.capture(ctx, c)}
	var again func()
	again = func() {
		c.Traffic(func(all []agent.Traffic) {
			t.count(c.Now(), all)
			c.After(countEvery, again)
		})
	}
	c.After(0, again)
}
