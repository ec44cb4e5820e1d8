package nemesis

import (
	"fmt"
	"strings"

	"recount/history"
)

// Idle tells whether nothing is being done to the cluster at the moment: what the nemesis believes of it should be so.
func (n *Nemesis) Idle() bool { return !n.busy }

// Active is how many faults are under way. One whose healing has begun is not.
func (n *Nemesis) Active() int { return len(n.active) }

// Compare says in which ways a cluster is not what it is believed to be; "" is in none. Nodes that have ended by themselves
// are known to be down, or to have been started since.
func Compare(believed, found history.Changes, ended map[string]bool) string {
	var all []string
	for k, s := range history.Merge(believed).Both(history.Merge(found)) {
		x, y := s[0], s[1]
		if _, process := x.(history.Proc); process && ended[k.Node] || x.Same(y) {
			continue
		}
		all = append(all, fmt.Sprintf("%s is %s, and should be %s", x.Name(), y.Words(), x.Words()))
	}
	return strings.Join(all, "; ")
}
