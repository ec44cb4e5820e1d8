package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/history"
)

// said is what a picture tells of writes to who points at them.
func said(p *picture) (all []string) {
	for _, h := range p.hovers {
		for _, it := range h.Items {
			if strings.Contains(it.Lines[0], "writes with") {
				all = append(all, it.Lines[0])
			}
		}
	}
	return all
}

// A resource may tell of writes, and not whose they are: they are nobody's, and not the first node's.
func TestWritesOfNobodyKnown(t *testing.T) {
	s := newScript(1, 20*msec, "n1", "n2")
	s.write("n2", 1, history.OK)
	s.write("", 1, history.OK)
	require.Equal(t, []string{"n2 writes with token 1: accepted", "somebody writes with token 1: accepted"},
		said(paint(Trace(&record.Run{Nodes: s.nodes, History: s.end(t)}), 1000)))

	s = newScript(1, 20*msec)
	s.write("", 1, history.OK)
	require.Equal(t, []string{"somebody writes with token 1: accepted"}, said(paint(Trace(&record.Run{History: s.end(t)}), 1000)))
}

// A write is an instant, and its token stands at it however closely somebody looks.
func TestWritesLastNoTime(t *testing.T) {
	s := newScript(1, 20*msec, "n1")
	s.at(time.Second).write("n1", 7, history.OK)
	s.at(time.Minute)
	p := paint(Trace(&record.Run{Nodes: s.nodes, History: s.end(t)}), 1000)
	for _, h := range p.hovers {
		for _, it := range h.Items {
			if strings.Contains(it.Lines[0], "writes with") {
				require.Zero(t, it.To-it.From)
			}
		}
	}
	i := slices.IndexFunc(p.labels, func(l label) bool { return l.Class == "token" })
	at := ms(p.tl.Writes[0].At)
	text, x := p.labels[i].fit(0, 10)
	require.Equal(t, "7", text)
	require.InDelta(t, 10*at, x, 0.01)
}
