package harness

import (
	"fmt"
	"strings"

	"recount/history"
	"recount/targets/specfile"
)

// unread counts answers that could not be read: a target that is described wrongly looks like one that is silent.
type unread struct {
	Cluster
	answers map[string]int // by the node that gave them
	first   error
}

func countUnread(c Cluster) *unread { return &unread{Cluster: c, answers: map[string]int{}} }

func (u *unread) Observe(node string, done func(history.View, error)) {
	u.Cluster.Observe(node, func(v history.View, err error) {
		if err != nil && specfile.Unreadable(err) {
			if u.answers[node]++; u.first == nil {
				u.first = err
			}
		}
		done(v, err)
	})
}

// words say what could not be read, and what was the first of it; "" if everything could.
func (u *unread) words() string {
	if u == nil || u.first == nil {
		return ""
	}
	var nodes []string
	for _, node := range sortedKeys(u.answers) {
		nodes = append(nodes, fmt.Sprintf("%d of %s", u.answers[node], node))
	}
	return fmt.Sprintf("Answers that could not be read: %s. The first: %v.", strings.Join(nodes, ", "), u.first)
}
