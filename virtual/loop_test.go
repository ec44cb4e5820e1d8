package virtual

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEventsHappenInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var l loop
	type happened struct {
		at    time.Duration
		added int
	}
	var all []happened
	for added := range 1000 {
		d := time.Duration(r.IntN(100))
		l.After(d, func() { all = append(all, happened{d, added}) })
	}
	for len(l.due) > 0 {
		e := l.pop()
		l.now = e.at
		e.f()
	}
	require.Len(t, all, 1000)
	for i := 1; i < len(all); i++ {
		require.LessOrEqual(t, all[i-1].at, all[i].at)
		if all[i-1].at == all[i].at {
			require.Less(t, all[i-1].added, all[i].added)
		}
	}
}
