package harness

import (
	"fmt"
	"strings"
	"time"

	"recount/history"
	"recount/targets/specfile"
	"recount/workloads"
)

// slow counts answers that came after observers had given them up. A node that stands still gives a few of them; one whose
// status takes too long gives no others.
type slow struct {
	bounds    history.Bounds
	described bool
	nodes     map[string]*pace
}

// pace is how quickly a node answers.
type pace struct {
	first, last time.Duration // when it was asked
	told        bool          // there was an answer, or a reason for there being none
	inTime      int
	late        int
	quickest    time.Duration // of those that were late
}

func newSlow(b history.Bounds, described bool) slow {
	return slow{b, described, map[string]*pace{}}
}

func (s *slow) ask(node string, at time.Duration) {
	p := s.nodes[node]
	if p == nil {
		p = &pace{first: at}
		s.nodes[node] = p
	}
	p.last = at
}

// answer takes note of how a question ended, which was asked so long ago.
func (s *slow) answer(node string, took time.Duration, err error) {
	p := s.nodes[node]
	p.told = true
	switch {
	case err != nil && !specfile.Unreadable(err):
	case took <= s.patience():
		p.inTime++
	default:
		if p.late++; p.late == 1 || took < p.quickest {
			p.quickest = took
		}
	}
}

func (s *slow) patience() time.Duration { return workloads.Patience(s.bounds.Poll) }

// words name the nodes that answered too late more often than in time, and those that were not heard at all, with the limit and
// the way out; "" if there are none.
func (s *slow) words() string {
	var late, mute []string
	quickest := time.Duration(0)
	for _, node := range sortedKeys(s.nodes) {
		switch p := s.nodes[node]; {
		case p.late > p.inTime:
			late = append(late, fmt.Sprintf("%d of %s", p.late, node))
			if quickest == 0 || p.quickest < quickest {
				quickest = p.quickest
			}
		case !p.told && p.last-p.first > answerWithin:
			mute = append(mute, node)
		}
	}
	var parts []string
	if len(late) > 0 {
		parts = append(parts, fmt.Sprintf("Answers that came too late to count, after more than %v: %s. The quickest took %v: %s.",
			s.patience(), strings.Join(late, ", "), quickest.Round(time.Millisecond), quicker(s.bounds, s.described, quickest)))
	}
	if len(mute) > 0 {
		parts = append(parts, fmt.Sprintf("No answer within %v: %s. Observers wait for %v: %s.",
			answerWithin, strings.Join(mute, ", "), s.patience(), quicker(s.bounds, s.described, answerWithin)))
	}
	return strings.Join(parts, " ")
}

// quicker says how answers that take so long are waited for: by polls that are further apart, where the target's file may say so.
func quicker(b history.Bounds, described bool, took time.Duration) string {
	const unit = 50 * time.Millisecond
	poll := (took/8 + unit - 1) / unit * unit // some longer than it takes: see workloads.Patience
	switch {
	case !described:
		return "ask for the status where it is answered sooner"
	case poll > b.Silence:
		return fmt.Sprintf("poll in times can be no longer than silence, %v, which waits for %v: ask for the status where it is answered sooner",
			b.Silence, workloads.Patience(b.Silence))
	}
	return fmt.Sprintf("times: {poll: %v} waits for %v", poll, workloads.Patience(poll))
}
