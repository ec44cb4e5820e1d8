package specfile

import (
	"fmt"
	"slices"
	"strings"
	"text/template"
	syntax "text/template/parse"

	"recount/internal/hint"
)

// What a template may come to, and how often it may repeat something. Command lines are shorter, and repeat something for each node.
const (
	maxRendered = 64 << 10
	maxRounds   = 1_000_000
)

// rounds is what a template calls that repeats something or is called by another: it refuses to go on without an end. It goes by no
// clock, so that what was tried once ends the same way on a machine that stands still.
func rounds() func() (string, error) {
	n := 0
	return func() (string, error) {
		if n++; n > maxRounds {
			return "", hint.Add(fmt.Errorf("it does not end within %d rounds", maxRounds), "does it repeat something too often?")
		}
		return "", nil
	}
}

// countRounds has a template, and those that it defines, call rounds in each body of theirs and of their ranges.
func countRounds(t *template.Template) {
	call := template.Must(template.New("").Funcs(template.FuncMap{"rounds": rounds()}).Parse("{{rounds}}")).Root.Nodes[0]
	var into func(l *syntax.ListNode)
	into = func(l *syntax.ListNode) {
		if l == nil {
			return
		}
		for _, n := range l.Nodes {
			switch n := n.(type) {
			case *syntax.RangeNode:
				into(n.List)
				into(n.ElseList)
				n.List.Nodes = slices.Insert(n.List.Nodes, 0, call)
			case *syntax.IfNode:
				into(n.List)
				into(n.ElseList)
			case *syntax.WithNode:
				into(n.List)
				into(n.ElseList)
			}
		}
	}
	for _, one := range t.Templates() {
		if one.Tree != nil && one.Root != nil {
			into(one.Root)
			one.Root.Nodes = slices.Insert(one.Root.Nodes, 0, call)
		}
	}
}

// capped is a text that refuses to grow beyond what a template may come to.
type capped struct{ text strings.Builder }

func (c *capped) Write(p []byte) (int, error) {
	if c.text.Len()+len(p) > maxRendered {
		return 0, hint.Add(fmt.Errorf("it comes to more than %d bytes", maxRendered), "does it repeat something too often?")
	}
	return c.text.Write(p)
}
