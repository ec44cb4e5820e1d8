package history

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInSteps has a change that was made step by step come to what its steps have come to.
func TestInSteps(t *testing.T) {
	cut, down := ChangesOf(Client{Node: "n1", Cut: true}), ChangesOf(Proc{Node: "n2", State: Down})
	why := errors.New("no")
	for _, c := range []struct {
		name        string
		first, last Effect
		want        Type
		found       Changes
	}{
		{"all came true", Effect{Seen: OK}, Effect{Seen: OK}, OK, Changes{}},
		{"nothing did", Effect{Seen: Fail, Err: why}, Effect{Seen: Fail, Err: why}, Fail, Changes{}},
		{"the first did", Effect{Seen: OK}, Effect{Seen: Fail, Err: why}, Info, cut},
		{"the last did", Effect{Seen: Fail, Err: why}, Effect{Seen: OK}, Info, down},
		{"nobody knows of either", Effect{Seen: Info, Err: why}, Effect{Seen: Info, Err: why}, Info, Changes{}},
		{"of one nobody knows, but for a part", Effect{Seen: Info, Err: why, Found: cut}, Effect{Seen: Fail, Err: why}, Info, cut},
	} {
		e := InSteps(Step{cut, c.first}, Step{down, c.last})
		require.Equal(t, c.want, e.Seen, c.name)
		require.Equal(t, c.found, e.Found, c.name)
		require.Equal(t, e.Seen == OK, e.Err == nil, c.name)
	}
	require.Equal(t, Effect{Seen: OK}, InSteps())
}
