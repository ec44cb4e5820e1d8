package harness

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/history"
)

// deaf is a cluster whose nodes send, from some look at them on, what the network does not carry.
type deaf struct {
	Cluster
	looks, from int
}

var errUnheard = errors.New("n1 listens to what nobody carries")

func (d *deaf) Unheard(context.Context) error {
	if d.looks++; d.looks > d.from {
		return errUnheard
	}
	return nil
}

// Nodes that cannot hear each other, with nothing at fault, are judged by nothing: neither those that begin so, nor those
// that listen later.
func TestNodesThatTheNetworkKeepsApartAreNotJudged(t *testing.T) {
	for from := range 3 {
		s, err := resolve(record.Plan{Target: "raft", On: record.OnSim, Nodes: 3, Time: 5 * time.Second, Seed: 1})
		require.NoError(t, err)
		r := &run{subject: s, Config: Config{Progress: func(string) {}}, recorder: history.NewRecorder(nil, 0)}
		simulated, err := openSimulated(s)
		require.NoError(t, err)
		r.cluster = &deaf{Cluster: simulated, from: from}
		r.begin()
		if err := r.proceed(context.Background()); from < 2 {
			require.ErrorIs(t, err, errUnheard)
		} else {
			require.NoError(t, err, "two looks: when there is a leader, and before all is healed")
		}
	}
}

// silent is a cluster that does not tell what its nodes listen to.
type silent struct{ Cluster }

func (silent) Unheard(ctx context.Context) error {
	<-ctx.Done()
	return fmt.Errorf("look which groups nodes listen to: %w", ctx.Err())
}

// A cluster that does not tell holds no run, and only who ends a run ends it.
func TestAClusterThatDoesNotTellWhatNodesListenTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &run{Config: Config{Progress: func(string) {}}, base: silent{}}
		require.NoError(t, r.hear(t.Context()))
		require.Len(t, r.told, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, r.hear(ctx), context.DeadlineExceeded)
		require.Len(t, r.told, 1)
	})
}
