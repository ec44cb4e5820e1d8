package jepsen

import (
	"recount/history"
	"recount/history/edn"
	"recount/internal/hint"
)

// locks reads uses of locks.
type locks struct {
	*builder
	owned bool                     // only who took one gives it back
	tells map[history.Process]bool // of those who used one with owners, whether they tell for whom
	began map[history.Process]bool // of those, whether the last operation told it as it began
}

func (l *locks) read(op, invoke *history.Op, e *event) (err error) {
	switch e.f {
	case "acquire", "lock":
		op.F = history.Acquire
	case "release", "unlock":
		op.F = history.Release
	default:
		return l.strange(e, ":acquire and :release")
	}
	if l.owned {
		if err := l.named(op, invoke, e); err != nil {
			return err
		}
	}
	if op.Type != history.Invoke && op.Type != history.OK {
		return nil
	}
	if _, value, paired := pairOf(untagged(e.value)); paired && value == nil && !l.Independent {
		return l.keyedUnasked(e, "a lock")
	}
	r := history.Register{Key: e.object}
	if l.owned {
		if r.Value, err = l.owner(invoke, e); err != nil {
			return err
		}
	}
	if r != (history.Register{}) {
		op.Reg = &r
	}
	return nil
}

func (*locks) finish() error { return nil }

// owner is who takes a lock or gives it back: the client that the value tells, or else the process.
func (l *locks) owner(invoke *history.Op, e *event) (string, error) {
	if v := client(e.value); v != nil {
		return l.text(e, v)
	}
	if invoke != nil && invoke.Reg != nil {
		return invoke.Reg.Value, nil
	}
	return e.process.String(), nil
}

// named returns an error where a process tells for whom it uses a lock, and of another use does not: the two would be of two owners, unless
// whom it tells is called as the process is.
func (l *locks) named(op, invoke *history.Op, e *event) error {
	told := client(e.value) != nil
	if op.Type == history.Invoke {
		l.began[e.process] = told
		return nil
	}
	owner, err := l.owner(invoke, e)
	tells := owner != e.process.String()
	if err != nil || op.Type == history.Fail || !tells && (told || l.began[e.process]) {
		return err
	}
	if told, before := l.tells[e.process]; before && told != tells {
		return hint.Add(problem(e.line, e.column, "process %d tells of some of its operations for which client they are, and of others not", e.process),
			"tell the {:client name} of each, or of none")
	}
	l.tells[e.process] = tells
	return nil
}

// client is whom a value says that it is of; nil if it tells nobody.
func client(value any) any {
	m, _ := untagged(value).(edn.Map)
	for _, key := range []edn.Keyword{"client", "owner"} {
		if v, ok := m.Get(key); ok && v != nil {
			return v
		}
	}
	return nil
}
