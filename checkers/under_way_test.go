package checkers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A line that stands is said again between two ops, and may tell that its node is up, before the last comes of what a link had held up.
func TestEpochsAreInOrder(t *testing.T) {
	h, err := parseHistory(`
nodes n1 n2 n3
bounds silence=1s elect=4s poll=100ms
flags standing
1s n1 announces leader 1 of n1
1s n2 n3 announces follower 1 of n1
2s-2.1s nemesis inject delay n1: keep n1-n2
3s-3.1s nemesis inject pause n3: pause n3
4s-4.1s nemesis heal pause n3: resume n3
4.2s-4.3s nemesis heal delay n1: join n1-n2
20s end
`)
	require.NoError(t, err)
	f := gather(h)
	require.True(t, slices.IsSortedFunc(f.world.epochs, func(a, b epoch) int { return cmp.Compare(a.from, b.from) }))
	var mutual []string
	for _, e := range f.world.epochs {
		if whole := fmt.Sprint(e.mutual[0].has(1)); len(mutual) == 0 || !strings.HasSuffix(mutual[len(mutual)-1], whole) {
			mutual = append(mutual, fmt.Sprintf("%v %s", e.from, whole))
		}
	}
	require.Equal(t, []string{"0s true", "2s false", "6.3s true"}, mutual)
}
