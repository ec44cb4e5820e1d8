package serve

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func keys(r *recent[string, string]) (all []string) {
	for _, e := range r.kept {
		all = append(all, e.key)
	}
	return all
}

func TestWhatWasUsedLastIsKept(t *testing.T) {
	was := time.Unix(1, 0)
	r := recent[string, string]{room: 3}
	for _, key := range []string{"a", "b", "c"} {
		r.add(&entry[string, string]{key, was, "of " + key, 1})
	}
	require.Equal(t, "of a", r.get("a", was).value)
	r.add(&entry[string, string]{"d", was, "", 1})
	require.Equal(t, []string{"c", "a", "d"}, keys(&r), "b was used least lately")
	require.Nil(t, r.get("b", was))

	require.Nil(t, r.get("a", was.Add(1)), "its files have changed")
	require.Nil(t, r.get("a", was), "and what was made of them is dropped")
	r.add(&entry[string, string]{"c", was, "again", 1})
	require.Equal(t, []string{"d", "c"}, keys(&r), "a key is there once")
	r.drop(r.get("d", was))
	require.Equal(t, []string{"c"}, keys(&r))
}

// A history shows its size once it is read; somebody else's may have been asked for meanwhile.
func TestWhatTurnsOutToBeLargeIsKeptAtTheCostOfOthers(t *testing.T) {
	was := time.Unix(1, 0)
	r := recent[string, string]{room: 3}
	large := &entry[string, string]{key: "large", was: was}
	r.add(&entry[string, string]{"a", was, "", 2})
	r.add(large)
	r.add(&entry[string, string]{"b", was, "", 2})
	require.Equal(t, []string{"large", "b"}, keys(&r))
	r.weigh(large, 4)
	require.Equal(t, []string{"large"}, keys(&r))

	r.empty()
	r.weigh(large, 4)
	require.Empty(t, keys(&r), "it was let go while it was read")
}
