package harness

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/docker"
	"recount/election"
	"recount/history"
)

// mute is a node that never answers.
type mute struct{ ended chan error }

func (m mute) View(ctx context.Context) (history.View, error) {
	<-ctx.Done()
	m.ended <- ctx.Err()
	return history.View{}, errors.New("hung up on")
}

func (mute) Close() error { return nil }

// patient is a system whose commands take as long as they may.
type patient struct {
	election.System
	mute
}

func (p patient) Get(ctx context.Context, _ election.Member, _ []election.Member, _ election.Dial) (uint64, error) {
	_, err := p.View(ctx)
	return 0, err
}

func (patient) Put(context.Context, election.Member, []election.Member, uint64, election.Dial) error {
	return nil
}

// Questions that are under way when a run ends are over with it: closing the cluster waits for them.
func TestQuestionsEndWithTheCluster(t *testing.T) {
	m := mute{make(chan error, 2)}
	c := &containers{Cluster: &docker.Cluster{}, driven: driven{system: patient{mute: m}, members: []election.Member{{Name: "n1"}}}, asked: map[string]asked{"n1": m}}
	c.lasting, c.close = context.WithCancel(t.Context())
	c.beside = c.aside
	c.Observe("n1", func(history.View, error) { t.Error("answered") })
	c.Command("n1", election.Command{Do: election.Get}, func(uint64, error) { t.Error("carried out") })
	c.close()
	c.work.Wait()
	for range 2 {
		require.ErrorIs(t, <-m.ended, context.Canceled)
	}
}
