package checkers

import (
	"context"
	"fmt"
	"time"

	"recount/history"
	"recount/internal/count"
)

func init() {
	register(Checker{
		Property:  noAlarm,
		Holds:     "no node writes to its log what it writes only if something is wrong with it",
		processes: true,
		of:        []history.F{history.Alarm},
		watch:     func(f *facts) watcher { return &alarms{facts: f} },
	})
}

const noAlarm = "no-alarm"

// alarms are what nodes have said of themselves. Whatever befell a node, and whoever believes it to have: its own word stands.
type alarms struct {
	*facts
	heard []alarm
}

// alarm is one line.
type alarm struct {
	at         time.Duration
	op         int
	node, line string
}

func (a *alarms) take(op *history.Op) {
	a.heard = append(a.heard, alarm{op.Time, op.Index, op.Node, op.Error})
}

func (a *alarms) check(context.Context) Result {
	figures := []Figure{figure("alarms", len(a.heard))}
	var first found[alarm]
	nodes := map[string]bool{}
	for _, one := range a.heard {
		nodes[one.node] = true
		first.take(one, span{one.at, one.at}, a.facts, noAlarm)
	}
	if first.any {
		one, words, more := first.it, "", ""
		if one.line != "" {
			words = fmt.Sprintf(": %#q", one.line)
		}
		if n := len(a.heard); n > 1 {
			more = " (one of " + count.Of(n, "alarm") + " of " + count.Of(len(nodes), "node") + ")"
		}
		return invalid(figures, evidence{span{one.at, one.at}, []int{one.op}}, "%s raised an alarm in its log at %s%s%s", one.node, at(one.at), more, words)
	}
	if !a.setup.Alarms {
		return untested(nil, "nobody listened for alarms: a spec file says by alarms: [PATTERN] which lines of a log are one")
	}
	if why := a.untried(figures, "no node raised an alarm"); why != nil {
		return *why
	}
	return valid(figures, "no alarm in the log of any of %s; %s", count.Of(len(a.nodes), "node"), a.watch())
}
