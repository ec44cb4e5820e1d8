package checkers

import (
	"cmp"
	"slices"
	"time"

	"recount/history"
)

// uses are what clients did to registers and locks, or in transactions: of a history all that it takes to decide about them.
type uses struct {
	*facts
	all []use
}

// use is an operation of a client.
type use struct {
	number  int    // of the op that began it, and of the one that ended it
	ended   int    // -1 if none did
	index   [2]int // the Index of both
	at      [2]time.Duration
	process history.Process
	f       history.F
	node    string
	outcome history.Type // Info if nobody knows, or it never ended
	asked   [2]*history.Register
	txn     [2]*history.Txn
}

func (u *uses) take(op *history.Op) {
	if op.Type == history.Invoke {
		u.all = append(u.all, use{
			number: u.newest(), ended: -1, index: [2]int{op.Index}, at: [2]time.Duration{op.Time}, process: op.Process, f: op.F, node: op.Node,
			outcome: history.Info, asked: [2]*history.Register{op.Reg}, txn: [2]*history.Txn{op.Txn()},
		})
		return
	}
	x := u.of(u.began.number)
	x.ended, x.outcome = u.newest(), op.Type
	x.index[1], x.at[1], x.asked[1], x.txn[1] = op.Index, op.Time, op.Reg, op.Txn()
}

// register is what was told of the register or the lock that was used, and whether that is what came of it.
func (x *use) register() (told *history.Register, found bool) {
	if found = x.asked[1] != nil; found {
		return x.asked[1], true
	}
	return cmp.Or(x.asked[0], &history.Register{}), false
}

// of returns the use that the op of a number began.
func (u *uses) of(number int) *use {
	k, _ := slices.BinarySearchFunc(u.all, number, func(x use, number int) int { return x.number - number })
	return &u.all[k]
}
