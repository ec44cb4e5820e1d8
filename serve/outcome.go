package serve

import (
	"fmt"
	"time"

	"recount/checkers"
	"recount/report"
)

// What became of two runs that are compared, in sentences: before all else that differs stands whether it mattered.

// Outcomes says where the two runs came to something else.
func (p comparePage) Outcomes() (sentences []string) {
	for _, a := range p.A.Verdicts {
		for _, b := range p.B.Verdicts {
			if a.Property == b.Property && a.Verdict != b.Verdict && a.Verdict != checkers.Unknown && b.Verdict != checkers.Unknown {
				sentences = append(sentences, fmt.Sprintf("%s: A %v, B %v.", a.Property, a.Verdict, b.Verdict))
			}
		}
	}
	a, lostA := p.reign(0)
	b, lostB := p.reign(1)
	if a != "" && b != "" && lostA != lostB {
		sentences = append(sentences, fmt.Sprintf("A: %s; B: %s.", a, b))
	}
	return sentences
}

// reign says how long the node led that led first from the zero on, and whether it lost the post while both runs went on. It is
// "" where nobody led.
func (c *Comparison) reign(run int) (words string, lost bool) {
	tl, node, until := c.lines[run], -1, time.Duration(0)
	for _, claim := range tl.Claims {
		switch {
		case claim.To <= c.Zero[run]:
		case node < 0:
			node, until = claim.Node, claim.To
		case claim.Node == node && claim.From <= until: // in another term
			until = max(until, claim.To)
		}
	}
	if node < 0 {
		return "", false
	}
	if until-c.Zero[run] < c.end-c.Within {
		return fmt.Sprintf("%s lost the post at %s", tl.Names[node], report.Seconds(until-c.Zero[run])), true
	}
	return tl.Names[node] + " kept it", false
}

// Doubts says what makes the two runs hard to compare.
func (p comparePage) Doubts() (sentences []string) {
	if a, b := len(p.lines[0].Names), len(p.lines[1].Names); a != b {
		sentences = append(sentences, fmt.Sprintf("The clusters differ in size: A has %d nodes, B has %d.", a, b))
	}
	var begin [2]time.Duration
	for i, tl := range p.lines {
		if len(tl.Faults) == 0 {
			begin[i] = -1
			continue
		}
		first := tl.Faults[0].From
		for _, f := range tl.Faults {
			first = min(first, f.From)
		}
		begin[i] = first - p.Zero[i]
	}
	switch a, b := begin[0], begin[1]; {
	case a < 0 && b < 0:
	case a < 0 || b < 0:
		sentences = append(sentences, "Only one of the two had a fault.")
	case max(a, b)-min(a, b) > p.Within:
		sentences = append(sentences, fmt.Sprintf("Faults begin at different times: in A at %s, in B at %s.", report.Seconds(a), report.Seconds(b)))
	}
	return sentences
}
