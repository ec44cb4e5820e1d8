package checkers

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"

	"recount/checkers/linear"
	"recount/internal/count"
)

func init() {
	register(Checker{
		Property: "single-leader-per-term",
		Holds:    "no two nodes are leader in one term",
		check:    singleLeader,
	})
}

// claim is an operation on the leadership of a term: a node says that it has it.
type claim struct {
	node string
	term uint64
}

// claimModel is the leadership of one term: whoever is first to claim it has it for good. Operations come in
// the order of their terms.
var claimModel = porcupine.Model{
	Partition: func(all []porcupine.Operation) (terms [][]porcupine.Operation) {
		for len(all) > 0 {
			n := 1
			for n < len(all) && all[n].Input.(claim).term == all[0].Input.(claim).term {
				n++
			}
			terms = append(terms, all[:n])
			all = all[n:]
		}
		return terms
	},
	Init: func() any { return "" },
	Step: func(state, input, _ any) (bool, any) {
		leader, c := state.(string), input.(claim)
		return leader == "" || leader == c.node, c.node
	},
	DescribeOperation: func(input, _ any) string {
		c := input.(claim)
		return fmt.Sprintf("%s leads in term %d", c.node, c.term)
	},
	DescribeState: func(state any) string { return "leader: " + state.(string) },
}

// singleLeader looks for a term that two nodes claimed, and has porcupine confirm it. That is all there is to decide:
// repeating a claim changes nothing, and what one node alone claims is legal in any order.
func singleLeader(ctx context.Context, f *facts) Result {
	if !f.numbered() {
		return untested(nil, "the election numbers no leaderships, so there is no term that could have two: "+unnumbered)
	}
	if why := f.blind(); why != "" {
		return unknown(nil, "%s", why)
	}
	t := f.terms()
	figures := []Figure{
		figure("leaderships", len(f.leads)), figure("terms with a leader", t.led),
		figure("terms with several", len(t.several)), figure("claims", t.claims),
	}
	switch {
	case t.led == 0:
		return untested(figures, "%s", f.unclaimed())
	case len(t.several) == 0:
		if why := cmp.Or(f.unranked(), f.untold()); why != "" {
			return unknown(figures, "%s", why)
		}
		r := valid(figures, "%s over %s seen, %s", count.Of(len(f.leads), "leadership"), count.Of(t.led, "term"), f.watch())
		r.Drawing = linear.Draw(ctx, claimModel, f.firstClaims())
		return r
	}
	a, b := t.several[0][0], t.several[0][1]
	ops := []porcupine.Operation{f.claim(a), f.claim(b)}
	ctx, cancel := linear.Extended(ctx)
	defer cancel()
	switch answer, why := linear.Ask(ctx, claimModel, ops); answer {
	case porcupine.Unknown:
		return unknown(figures, "%s", why)
	case porcupine.Ok:
		panic(fmt.Sprintf("porcupine knows an order for two leaders of term %d", a.term))
	}
	e := evidence{span{min(a.begins(), b.begins()), max(a.to, b.to)}, []int{f.index(a), f.index(b)}}
	r := invalid(figures, e, "term %d was won by %s and by %s", a.term, f.nodes[a.node], f.nodes[b.node])
	r.Drawing = linear.Draw(ctx, claimModel, ops)
	return r
}

// terms tell who claimed which.
type terms struct {
	led, claims int
	several     [][2]*answer // the first claims of two nodes for each term that several claimed, in the order of terms
}

// terms decides it in one pass, in the order in which claims came.
func (f *facts) terms() (t terms) {
	first := map[uint64]*answer{}
	several := map[uint64]bool{}
	var last *answer
	for i := range f.answers {
		a := &f.answers[i]
		if !a.claims() || a.term == 0 {
			continue
		}
		t.claims++
		if last != nil && a.term == last.term && a.node == last.node {
			continue
		}
		last = a
		switch leader, known := first[a.term]; {
		case !known:
			first[a.term] = a
		case leader.node != a.node && !several[a.term]:
			several[a.term] = true
			t.several = append(t.several, [2]*answer{leader, a})
		}
	}
	t.led = len(first)
	t.claims += f.left.claims
	slices.SortFunc(t.several, func(a, b [2]*answer) int { return cmp.Compare(a[0].term, b[0].term) })
	return t
}

// firstClaims are the first claims of all leaderships.
func (f *facts) firstClaims() []porcupine.Operation {
	ops := make([]porcupine.Operation, len(f.leads))
	for i := range f.leads {
		ops[i] = f.claim(&f.answers[f.leads[i].first])
	}
	return ops
}

// claim makes an answer an operation: it happened when the answer was true.
func (f *facts) claim(a *answer) porcupine.Operation {
	return porcupine.Operation{
		ClientId: int(a.node), Input: claim{f.nodes[a.node], a.term}, Call: int64(a.begins()), Return: int64(a.to),
	}
}
