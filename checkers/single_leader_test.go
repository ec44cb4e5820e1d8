package checkers

import (
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"recount/history"
)

// A node that led a term twice is one leader of it: only another node makes two, whenever it does.
func TestTerms(t *testing.T) {
	claim := func(term uint64, node int16) answer { return answer{term: term, node: node, role: history.Leader} }
	f := facts{answers: []answer{
		claim(4, 2), claim(1, 0), claim(3, 1), claim(3, 1), claim(2, 0), claim(1, 0), claim(3, 2), claim(2, 2), claim(3, 0), claim(0, 1),
	}}
	got := f.terms()
	require.Equal(t, 4, got.led)
	require.Equal(t, 9, got.claims)
	require.Equal(t, [][2]*answer{{&f.answers[4], &f.answers[7]}, {&f.answers[2], &f.answers[6]}}, got.several)

	got = (&facts{}).terms()
	require.Zero(t, got)
}

// allClaims are what porcupine would have to decide on, in the order of terms.
func (f *facts) allClaims() (ops []porcupine.Operation) {
	for i := range f.answers {
		if a := &f.answers[i]; a.claims() {
			ops = append(ops, porcupine.Operation{
				ClientId: int(a.node), Input: claim{f.nodes[a.node], a.term}, Call: int64(a.begins()), Return: int64(a.to),
			})
		}
	}
	return ops
}
