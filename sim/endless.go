package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"recount/election"
)

// Endless is the error of a cluster whose nodes do far more than time passes for: messages that beget messages without end.
type Endless struct {
	Work   uint64         // how many events there were, and messages sent
	Recent map[string]int // the last messages, in words, and how often each was among them
}

func (e *Endless) Error() string {
	all := slices.SortedFunc(maps.Keys(e.Recent), func(a, b string) int {
		if d := e.Recent[b] - e.Recent[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	total := 0
	for _, n := range e.Recent {
		total += n
	}
	var words []string
	for _, m := range all[:min(len(all), 4)] {
		words = append(words, fmt.Sprintf("%s %d times", m, e.Recent[m]))
	}
	if len(words) == 0 {
		return fmt.Sprintf("nodes work without end: %d events, without a message", e.Work)
	}
	return fmt.Sprintf("nodes work without end: %d events; of the last %d messages %s", e.Work, total, strings.Join(words, ", "))
}

// work counts what nodes do, against what they may.
type work struct {
	done, most uint64
	ended      bool // it was too much: no process does anything more
	recent     [64]string
	at         int
}

// sent counts a message. A method that sends without end is broken off.
func (c *Cluster) sent(from, to int32, m *election.Message) {
	w := &c.work
	w.done++
	if w.most == 0 || w.done < w.most/2 {
		return
	}
	w.recent[w.at%len(w.recent)] = fmt.Sprintf("%s %s→%s", m.Kind, c.nodes[from].name, c.nodes[to].name)
	if w.at++; w.done > 2*w.most {
		panic(c.endless())
	}
}

func (c *Cluster) endless() *Endless {
	c.work.ended = true
	e := &Endless{Work: c.work.done, Recent: map[string]int{}}
	for _, m := range c.work.recent[:min(c.work.at, len(c.work.recent))] {
		e.Recent[m]++
	}
	return e
}
