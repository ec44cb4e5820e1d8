package cover

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProfilesAddUp(t *testing.T) {
	line := func(fn string, at, statements uint32) Block {
		return Block{"a/b.go", fn, at, 2, at + 1, 3, statements}
	}
	p, q := NewProfile(), NewProfile()
	p.blocks = map[Block]bool{line("f", 1, 3): true, line("f", 4, 1): false, line("g", 8, 2): false, line("h", 12, 9): false, line("", 20, 1): false, line("none", 30, 0): false}
	q.blocks = map[Block]bool{line("f", 1, 3): false, line("g", 8, 2): true}
	ran, all := p.Statements()
	require.Equal(t, []int{3, 16}, []int{ran, all})
	require.Equal(t, []Block{{File: "a/b.go", Func: "h", Statements: 9}, {File: "a/b.go", Func: "g", Statements: 2}}, p.Never())
	p.Add(q)
	p.Add(nil)
	ran, _ = p.Statements()
	require.Equal(t, 5, ran)
	require.Equal(t, []Block{{File: "a/b.go", Func: "h", Statements: 9}}, p.Never())
	seen := 0
	for b := range p.Ran() {
		require.True(t, p.blocks[b])
		seen++
	}
	require.Equal(t, 2, seen)
	var text strings.Builder
	require.NoError(t, p.Write(&text))
	require.Equal(t, "mode: set\na/b.go:1.2,2.3 3 1\na/b.go:4.2,5.3 1 0\na/b.go:8.2,9.3 2 1\na/b.go:12.2,13.3 9 0\na/b.go:20.2,21.3 1 0\na/b.go:30.2,31.3 0 0\n", text.String())
}
