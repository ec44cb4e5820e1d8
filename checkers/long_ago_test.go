package checkers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// longAgo is what may happen once and be over, to N, one that follows, or L, who leads.
var longAgo = []string{
	"A N exits",
	"A L exits",
	"A nemesis inject isolate N: cut N-L\nB nemesis heal isolate N: join N-L",
	"A nemesis inject kill N: kill N\nB nemesis heal kill N: start N",
	"A nemesis inject kill N: kill N; unseen\nB nemesis heal kill N: start N",
	"A nemesis inject kill N: kill N; failed",
	"A nemesis inject pause L: pause L\nB nemesis heal pause L: resume L",
	"A nemesis inject crash L: crash L; unseen\nB nemesis heal crash L: start L",
	"A nemesis inject full N: fill N\nB nemesis heal full N: mend N",
	"A nemesis inject slow N: throttle N\nB nemesis heal slow N: free N",
	"A nemesis inject less N: squeeze N\nB nemesis heal less N: relieve N",
	"A nemesis inject hang L: hang L/p\nB nemesis heal hang L: wake L/p",
	"A nemesis inject hide N: hide N\nB nemesis heal hide N: show N",
	"A N exits trapped",
	"A N resigns",
	"A L resigns refused",
	"A N follower 1 torn",
	"A L leader 1 torn",
	"A N silent",
	"A L refuses",
	"A N unknown 0",
	"A L unknown 1",
	"A N candidate 2 torn",
	"A N announces follower 1 torn",
	"A stranger knocks",
	"A client read unknown",
	"A stall 2s",
	"A matches",
}

// TestLongAgo puts a calm before each history that breaks something, and in it one thing that happens and is over: it excuses nothing
// that comes so much later.
func TestLongAgo(t *testing.T) {
	histories := 0
	for _, c := range All() {
		for _, path := range files(t, c.Property) {
			if !strings.HasPrefix(filepath.Base(path), "invalid") {
				continue
			}
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			later, err := newPrelude(string(text))
			require.NoError(t, err, path)
			if later == nil || c.Check(context.Background(), later.after(t, "")).Verdict != Invalid {
				continue // it is about how a history begins
			}
			for k, thing := range longAgo {
				if k > 1 && k%8 != histories%8 { // every eighth will do, and both that end
					continue
				}
				r := c.Check(context.Background(), later.after(t, thing))
				require.Equal(t, Invalid, r.Verdict, "%s, long after %q: %s", path, thing, r.Why)
			}
			histories++
		}
	}
	require.Greater(t, histories, 250)
}

// prelude is a history and what comes long before it.
type prelude struct {
	head, before   string // the lines that say what it is of, and who leads and follows in the calm
	leads, follows string
	ops            []history.Op // of the history, later
	unit           time.Duration
}

// newPrelude reads a history; nil if a calm has no place before it: where answers stand, or are of no member, or leaderships are counted.
func newPrelude(text string) (*prelude, error) {
	text, _, _ = strings.Cut(text, separator)
	for _, unfit := range []string{"servers ", "no-setup", "standing", "tenure"} {
		if strings.Contains(text, unfit) {
			return nil, nil
		}
	}
	h, err := parseHistory(text)
	if err != nil {
		return nil, err
	}
	c := new(prelude)
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && (line[0] < '0' || line[0] > '9') {
			c.head += line + "\n"
		}
	}
	setup := h.Setup()
	voters := setup.Voting
	if len(voters) == 0 {
		voters = setup.Nodes
	}
	if len(voters) < 2 {
		return nil, nil
	}
	c.leads, c.follows = voters[0], voters[len(voters)-1]
	poll := max(setup.Bounds.Poll, time.Millisecond)
	c.unit = max(setup.Bounds.Silence, setup.Bounds.Elect/2, 5*poll)
	term, shift := " 1", uint64(10)
	if setup.NoTerms {
		term, shift = "", 0
	}
	for _, n := range setup.Nodes {
		says := "follower" + term + " of " + c.leads
		if n == c.leads {
			says = "leader" + term
		}
		c.before += fmt.Sprintf("0s..%v/%v %s %s\n", 39*c.unit, poll, n, says)
	}
	for _, op := range h.Ops[1:] {
		c.ops = append(c.ops, postponed(op, 40*c.unit, shift))
	}
	return c, nil
}

// postponed is an op of another process and another fault, at a later time and in a later term.
func postponed(op history.Op, by time.Duration, terms uint64) history.Op {
	const others = 1 << 20
	if op.Time += by; op.Process >= 1000 {
		op.Process += others
	}
	for _, term := range []*uint64{&op.View.Term, &op.Vote.Term, &op.Access.Token} {
		if *term > 0 {
			*term += terms
		}
	}
	if u, ok := op.Value.(*history.Update); ok {
		moved := *u
		moved.Term += terms
		op.Value = &moved
	}
	if op.Fault != nil && op.Fault.ID > 0 {
		f := *op.Fault
		f.ID += others
		op.Fault = &f
	}
	return op
}

// after returns the history with a calm before it, in which that happens.
func (c *prelude) after(t *testing.T, thing string) *history.History {
	from, to := 10*c.unit+c.unit/7, 10*c.unit+c.unit/6
	thing = strings.NewReplacer(
		"A nemesis", fmt.Sprintf("%v-%v nemesis", from, to), "A ", fmt.Sprint(from, " "),
		"B ", fmt.Sprintf("%v-%v ", from+c.unit, to+c.unit), "L", c.leads, "N", c.follows,
	).Replace(thing)
	h, err := parseHistory(c.head + c.before + thing)
	require.NoError(t, err, thing)
	ops := append(slices.Clone(h.Ops), c.ops...)
	for i := range ops {
		ops[i].Index = i
	}
	h, err = history.New(ops)
	require.NoError(t, err, thing)
	return h
}
