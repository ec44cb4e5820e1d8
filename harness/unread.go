package harness

import (
	"context"
	"fmt"
	"strings"

	"recount/election"
	"recount/history"
	"recount/internal/hint"
	"recount/targets/specfile"
)

// unread counts answers that could not be read, and knows of nodes that gave none, or none in time, and whether any took a write, or
// handed over: a target that is described wrongly looks like one that is silent, or gets nothing through, or has a leader that stays.
type unread struct {
	Cluster
	slow    slow
	untold  untold
	answers map[string]int // by the node that gave them
	first   error
	reads   map[string]int   // answers to who read the register, likewise
	misread error            // the first of them
	wrote   bool             // a write to the register was taken
	refused error            // why one was not, the last time
	gave    bool             // a node said that it hands over
	kept    error            // what one said besides, the last time
	came    map[string]bool  // of whom there was an answer, whatever it was
	why     map[string]error // there was none the last time, for this reason
}

// countUnread counts for a run of these bounds, of a target that a file may describe.
func countUnread(c Cluster, b history.Bounds, described bool) *unread {
	return &unread{
		Cluster: c, slow: newSlow(b, described), answers: map[string]int{}, reads: map[string]int{}, came: map[string]bool{}, why: map[string]error{},
	}
}

// Start starts all nodes, and waits until they are ready. What one answers before that, before it has joined the others or was given what
// it elects, nobody has to understand.
func (u *unread) Start(ctx context.Context) error {
	err := u.Cluster.Start(ctx)
	if err == nil {
		clear(u.answers)
		clear(u.reads)
		u.first, u.misread = nil, nil
	}
	return err
}

func (u *unread) Observe(node string, done func(history.View, error)) {
	asked := u.Now()
	u.slow.ask(node, asked)
	u.Cluster.Observe(node, func(v history.View, err error) {
		u.slow.answer(node, u.Now(), u.Now()-asked, v, err)
		switch {
		case err == nil:
			u.came[node] = true
		case specfile.Unreadable(err):
			u.came[node] = true
			if u.untold.add(node, err) {
				break
			}
			if u.answers[node]++; u.first == nil {
				u.first = err
			}
		case !specfile.Silent(err):
			u.why[node] = err
		}
		done(v, err)
	})
}

func (u *unread) Command(node string, cmd election.Command, done func(uint64, error)) {
	u.Cluster.Command(node, cmd, func(value uint64, err error) {
		switch {
		case cmd.Do == election.Get && specfile.Misdescribed(err):
			if u.reads[node]++; u.misread == nil {
				u.misread = err
			}
		case cmd.Do == election.Put && err == nil:
			u.wrote = true
		case cmd.Do == election.Put:
			u.refused = err
		case cmd.Do == election.Resign && err == nil:
			u.gave = true
		case cmd.Do == election.Resign:
			u.kept = err
		}
		done(value, err)
	})
}

// words say what could not be read, and what was the first of it, who never answered, and why, and who answered too late; "" if
// everything could and all did.
func (u *unread) words() string {
	if u == nil {
		return ""
	}
	var parts []string
	if u.first != nil {
		parts = append(parts, fmt.Sprintf("Answers that could not be read: %s. The first: %s.", ofEach(u.answers), hint.Line(u.first)))
	}
	if u.misread != nil {
		parts = append(parts, fmt.Sprintf("Answers with no number of the register: %s. The first: %s.", ofEach(u.reads), hint.Line(u.misread)))
	}
	if u.refused != nil && !u.wrote {
		parts = append(parts, fmt.Sprintf("No node took a write to the register. The last refused it: %s.", hint.Line(u.refused)))
	}
	if u.kept != nil && !u.gave {
		parts = append(parts, fmt.Sprintf("No node that was asked to hand over said that it does. The last: %s.", hint.Line(u.kept)))
	}
	if untold := u.untold.words("Answers"); untold != "" {
		parts = append(parts, untold)
	}
	var silent []string
	for _, node := range sortedKeys(u.why) {
		if !u.came[node] {
			silent = append(silent, node)
		}
	}
	if len(silent) > 0 {
		parts = append(parts, fmt.Sprintf("Never answered: %s. The last time of %s: %s.", strings.Join(silent, ", "), silent[0], hint.Line(u.why[silent[0]])))
	}
	if late := u.slow.words(); late != "" {
		parts = append(parts, late)
	}
	return strings.Join(parts, " ")
}
