package history

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPartly(t *testing.T) {
	down := func(n string) State { return Proc{n, Down} }
	cut := Link{From: "n1", To: "n2", LinkState: LinkState{Cut: true}}
	c := ChangesOf(cut, down("n1"), down("n2"), CPU{Node: "n1", Share: 0.1})
	why := errors.New("n2 is up")
	for _, want := range []struct {
		name   string
		seen   Type
		missed []Key
		then   Type
		found  Changes
	}{
		{"all came true", OK, nil, OK, Changes{}},
		{"nobody could see anything", Info, nil, Info, Changes{}},
		{"nothing came true", Fail, []Key{cut.Key(), down("n1").Key(), down("n2").Key(), CPU{Node: "n1"}.Key()}, Fail, Changes{}},
		{"one of two nodes did not", Fail, []Key{down("n2").Key()}, Info, ChangesOf(cut, down("n1"), CPU{Node: "n1", Share: 0.1})},
		{"of one it could not be seen", Info, []Key{down("n1").Key(), cut.Key()}, Info, ChangesOf(down("n2"), CPU{Node: "n1", Share: 0.1})},
		{"what was not asked for went wrong", Fail, []Key{down("n3").Key()}, Info, c},
	} {
		e := Effect{Seen: want.seen}
		if want.seen != OK {
			e.Err = why
		}
		got := Partly(c, want.missed, e)
		require.Equal(t, want.then, got.Seen, want.name)
		require.Equal(t, e.Err, got.Err, want.name)
		require.Equal(t, want.found, got.Found, want.name)
	}
	require.Equal(t, "link n1→n2 is cut, n1 is down, n2 is down, and 1 more", (&Fault{Changes: c}).Came())
}
