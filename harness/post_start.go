package harness

import (
	"context"
	"fmt"
	"strings"

	"recount/election"
	"recount/history"
	"recount/internal/hint"
)

// toldStarts are what nodes of a system that wants it are told each time that their processes have begun. It belongs to the loop.
type toldStarts struct {
	c      founded
	d      *driven
	system election.Starter
	want   map[string]error // why the life of a node that is the last was not told all, by now
}

// starts returns what is to be called each time that the processes of a node have begun.
func (d *driven) starts(c founded) func(node string) {
	d.lives, d.had = map[string]int{}, map[history.Key]int{}
	tell := func(string) {}
	if s, is := d.system.(election.Starter); is {
		if some, _ := s.Starts(); some {
			d.told = &toldStarts{c: c, d: d, system: s, want: map[string]error{}}
			tell = d.told.begun
		}
	}
	return func(node string) {
		d.lives[node]++
		tell(node)
	}
}

// begun has a node told, whose process has begun.
func (t *toldStarts) begun(node string) {
	delete(t.want, node)
	t.tell(node, t.d.lives[node], t.system.PostStart(t.d.member(node), t.d.members))
}

// tell tells a node what is left, one thing after the other. What fails is tried again, for as long as that life is the last.
func (t *toldStarts) tell(node string, life int, left []election.Told) {
	if len(left) == 0 {
		return
	}
	tell := func(ctx context.Context) error { return left[0](ctx, t.d.dial(node)) }
	t.d.until(t.c, node, attempt{within: answerWithin, wait: retry, try: tell}, func() bool { return t.d.lives[node] == life }, func(err error) {
		if err != nil {
			t.want[node] = err
			return
		}
		delete(t.want, node)
		t.tell(node, life, left[1:])
	})
}

// why is what a node was told in vain so far, or else another reason.
func (t *toldStarts) why(node string, other error) error {
	if t == nil || t.want[node] == nil {
		return other
	}
	err := fmt.Errorf("post-start: %w", t.want[node])
	return hint.Or(err, t.want[node], notToldStart)
}

const notToldStart = "post-start never succeeded, which it is told once its process has begun: what that came to last is above"

// words say which nodes were told in vain, to the end; "" if none was.
func (t *toldStarts) words() string {
	if t == nil || len(t.want) == 0 {
		return ""
	}
	names := sortedKeys(t.want)
	return fmt.Sprintf("To the end post-start did not succeed on %s: %s.", strings.Join(names, ", "), hint.Line(t.want[names[0]]))
}
