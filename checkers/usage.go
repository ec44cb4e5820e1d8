package checkers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"recount/checkers/linear"
	"recount/history"
	"recount/internal/count"
)

// usage is what was done to the fenced resource in all, and who presented tokens. A leadership's token is its own, whether its
// writes were accepted or not.
type usage struct {
	tokened recent[token]
	under   map[int]presented // writes under way, by the number of their ops
	kinds   [4]int
	tokens  int    // that were accepted, as writes or reads show
	shared  int    // of them, those that several nodes wrote with
	highest uint64 // token that anybody presented or read
	sharers [2]presented
	lock    func() bool // writes are acquisitions of a lock
}

// token is what became of one.
type token struct {
	first    presented // by a node
	accepted bool
	writers  []string // whose writes were
}

// presented is a write that a node presented a token with.
type presented struct {
	at     time.Duration
	number int // of the op that began it
	op     int // the Index of the one that tells its outcome, or else of that which began it
	token  uint64
	node   string
}

func newUsage(f *facts) usage {
	return usage{tokened: newRecent[token](f), under: map[int]presented{}, lock: func() bool { return f.setup.Lock }}
}

// take takes note of an op with its number.
func (u *usage) take(op *history.Op, number int, began *beginning) {
	switch {
	case op.Type == history.Invoke && op.F == history.Write:
		u.kinds[linear.Maybe]++
		u.highest = max(u.highest, op.Access.Token)
	case op.Type == history.Info:
	case op.F == history.Write && op.Type == history.OK:
		u.kinds[linear.Maybe]--
		u.kinds[linear.Accepted]++
	case op.F == history.Write:
		u.kinds[linear.Maybe]--
		u.kinds[linear.Rejected]++
	case op.Type == history.OK:
		u.kinds[linear.Read]++
		u.highest = max(u.highest, op.Access.Token)
	}
	u.present(op, number, began, func(n uint64) (*token, bool) { return u.tokened.of(n), true })
}

// present takes note of the token that an op presents or shows: of it as far as of says, and whether it counts.
func (u *usage) present(op *history.Op, number int, began *beginning, of func(n uint64) (t *token, counts bool)) {
	switch {
	case op.Type == history.Invoke && op.F == history.Write:
		now := presented{op.Time, number, op.Index, op.Access.Token, op.Node}
		u.under[number] = now
		if now.token == 0 {
			return
		}
		switch t, _ := of(now.token); {
		case t == nil:
		case t.first.node == "":
			t.first = now
		case t.first.node != now.node && (u.sharers[1].node == "" || now.number < u.sharers[1].number):
			u.sharers = [2]presented{t.first, now}
		}
	case op.F == history.Write:
		w := u.under[began.number]
		delete(u.under, began.number)
		if op.Type == history.Info {
			return
		}
		for i := range u.sharers {
			u.sharers[i].told(began.number, op.Index)
		}
		t, counts := of(w.token)
		if t == nil {
			return
		}
		if t.first.told(began.number, op.Index); op.Type == history.OK {
			u.accept(t, counts)
			if !slices.Contains(t.writers, w.node) {
				if t.writers = append(t.writers, w.node); counts && len(t.writers) == 2 {
					u.shared++
				}
			}
		}
	case op.Type == history.OK && op.Access.Token != 0:
		if t, counts := of(op.Access.Token); t != nil {
			u.accept(t, counts)
		}
	}
}

// told takes note of the op that told the outcome of a write.
func (p *presented) told(number, op int) {
	if p.number == number {
		p.op = op
	}
}

func (u *usage) accept(t *token, counts bool) {
	if !t.accepted && counts {
		u.tokens++
	}
	t.accepted = true
}

// recount goes through the history once more, for the tokens that had been forgotten.
func (u *usage) recount() error {
	if len(u.tokened.late) == 0 {
		return nil
	}
	open, late := newBegun(), u.tokened.replay()
	return u.tokened.again(func(op *history.Op, number int) {
		u.present(op, number, open.see(op, number), func(n uint64) (*token, bool) { return late.at(n, number) })
	})
}

func (u *usage) figures() []Figure {
	return []Figure{
		figure("writes accepted", u.kinds[linear.Accepted]), figure("writes rejected", u.kinds[linear.Rejected]),
		figure("writes of unknown outcome", u.kinds[linear.Maybe]), figure("reads", u.kinds[linear.Read]),
		figure("tokens", u.tokens), figure("tokens of several nodes", u.shared),
	}
}

func (u *usage) String() string {
	var b strings.Builder
	what := "write"
	if u.lock() {
		what = "acquisition"
	}
	fmt.Fprintf(&b, "%s accepted under %s", count.Of(u.kinds[linear.Accepted], what), count.Of(u.tokens, "token"))
	fmt.Fprintf(&b, ", %s refused", count.Of(u.kinds[linear.Rejected], "stale one"))
	if n := u.kinds[linear.Maybe]; n > 0 {
		fmt.Fprintf(&b, ", %s of unknown outcome", count.Of(n, what))
	}
	fmt.Fprintf(&b, ", %s", count.Of(u.kinds[linear.Read], "read"))
	return b.String()
}
