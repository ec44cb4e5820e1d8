package report

import (
	"strings"
	"testing"

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
