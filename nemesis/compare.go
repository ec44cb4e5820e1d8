package nemesis

import (
	"fmt"
	"strings"

	"recount/history"
)

// Idle tells whether nothing is being done to the cluster at the moment: what the nemesis believes of it should be so.
func (n *Nemesis) Idle() bool { return !n.busy }

// Compare says in which ways a cluster is not what it is believed to be; "" is in none. Nodes that have ended by themselves
// are known to be down, or to have been started since.
func Compare(believed, found history.Changes, ended map[string]bool) string {
	var all []string
	a, b := history.Merge(believed), history.Merge(found)
	for _, k := range a.Keys(b) {
		x, y := a[k], b[k]
		if x == nil {
			x = y.Healthy()
		}
		if y == nil {
			y = x.Healthy()
		}
		if _, process := x.(history.Proc); process && ended[k.Node] || x.Same(y) {
			continue
		}
		all = append(all, fmt.Sprintf("%s is %s, and should be %s", x.Name(), y.Words(), x.Words()))
	}
	return strings.Join(all, "; ")
}
