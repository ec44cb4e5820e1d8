package checkers

import (
	"context"
	"fmt"
	"slices"

	"recount/internal/count"
)

func init() {
	register(Checker{
		Property:  "stays-up",
		Holds:     "no node's process ends by itself",
		processes: true,
		believes:  true,
		check:     staysUp,
	})
}

// staysUp looks for a process that ended while nobody made it end. One whose disk is failing, or was until just before, may have to.
func staysUp(_ context.Context, f *facts) Result {
	if f.setup.Cluster == "" && len(f.exits) == 0 { // who tells of an end has watched
		return unknown(nil, "nobody watched the processes of the nodes: let a run of Recount do so")
	}
	if f.world.n == 0 {
		return unknown(nil, "nobody knows what befell the processes of the nodes: have begin name the members")
	}
	var first *exit
	alone, excused, each := 0, 0, [len(excuses)]int{}
	var ended set
	for i := range f.exits {
		x := &f.exits[i]
		if x.excuse != none {
			each[x.excuse]++
			excused++
			continue
		}
		if alone++; first == nil {
			first = x
		}
		ended.add(x.node)
	}
	figures := []Figure{figure("ended by themselves", alone), figure("excused", excused)}
	if first != nil {
		how, more := "", ""
		if first.how != "" {
			how = fmt.Sprintf(" (%s)", first.how)
		}
		if alone > 1 {
			who := "it"
			if ended.count() > 1 {
				who = "one of " + f.names(ended)
			}
			more = fmt.Sprintf(", the first of %d times that %s did", alone, who)
		}
		e := evidence{span{first.at, first.at}, []int{first.op}}
		return invalid(figures, e, "%s ended by itself at %s%s%s", f.nodes[first.node], at(first.at), how, more)
	}
	if why := f.untried(figures, "no process ended by itself"); why != nil {
		return *why
	}
	but := ""
	if excused > 0 {
		var why []string
		for k, n := range each {
			if n > 0 {
				why = append(why, count.Of(n, "time")+" "+excuses[k])
			}
		}
		but = ", but for " + list(why)
	}
	return valid(figures, "no process of %s ended by itself%s; %s", count.Of(len(f.nodes), "node"), but, f.watch())
}

// untried is why it proves nothing that nothing happened to any node's process; nil if it does.
func (f *facts) untried(figures []Figure, nothing string) *Result {
	var r Result
	switch {
	case !slices.ContainsFunc(f.seen, func(w watched) bool { return w.polls+w.announced > 0 }):
		r = unknown(figures, "no node gave an answer: nobody knows whether any was ever up")
	case f.tried > 0 && f.took == 0:
		r = unknown(figures, "%s", f.noEffect())
	case f.took == 0:
		r = untested(figures, "%s, but there was no fault that could have made it: inject some", nothing)
	default:
		return nil
	}
	return &r
}
