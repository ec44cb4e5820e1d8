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
// status takes too long gives no others, at all or for as long as it leads.
type slow struct {
	bounds    history.Bounds
	described bool
	nodes     map[string]*pace
}

// pace is how quickly a node answers.
type pace struct {
	first, last time.Duration // when it was asked
	told        bool          // there was an answer, or a reason for there being none
	tally
	leading tally         // of the answers that say that the node leads
	came    time.Duration // the last of the late ones of these
}

// tally counts answers.
type tally struct {
	inTime   int
	late     int
	quickest time.Duration // of those that were late
}

func (t *tally) add(took, patience time.Duration) {
	if took <= patience {
		t.inTime++
	} else if t.late++; t.late == 1 || took < t.quickest {
		t.quickest = took
	}
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

// answer takes note of how a question ended, now, which was asked so long ago.
func (s *slow) answer(node string, now, took time.Duration, v history.View, err error) {
	p := s.nodes[node]
	if p.told = true; err != nil && !specfile.Unreadable(err) {
		return
	}
	p.add(took, s.patience())
	if err != nil || v.Role != history.Leader {
		return
	}
	if late := took > s.patience(); late {
		if p.leading.late > 0 && now-p.came < s.patience()/2 { // who stood still gives all that it owes at once: it counts once
			return
		}
		p.came = now
	}
	p.leading.add(took, s.patience())
}

// aFew is how many answers a leader may be late with before it is called slow.
const aFew = 3

func (s *slow) patience() time.Duration { return workloads.Patience(s.bounds.Poll) }

// words name the nodes that answered too late more often than in time, at all or while they led, and those that were not heard at all, with the limit and
// the way out; "" if there are none.
func (s *slow) words() string {
	var late, mute []string
	quickest := time.Duration(0)
	for _, node := range sortedKeys(s.nodes) {
		name := func(t tally, while string) {
			late = append(late, fmt.Sprintf("%d of %s%s", t.late, node, while))
			if quickest == 0 || t.quickest < quickest {
				quickest = t.quickest
			}
		}
		switch p := s.nodes[node]; {
		case p.late > p.inTime:
			name(p.tally, "")
		case p.leading.late > max(p.leading.inTime, aFew-1):
			name(p.leading, " while it led")
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
