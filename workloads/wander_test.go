package workloads

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/history"
)

func TestWanderersComeToAllNodes(t *testing.T) {
	c := &fake{}
	asked := map[string]int{}
	c.command = func(node string, cmd election.Command, done func(uint64, error)) {
		if asked[node]++; cmd.Do == election.Put {
			require.Greater(t, cmd.Value, uint64(wandered), "nobody else writes it")
		}
		switch node {
		case "n1":
			done(0, errors.New("it does not lead"))
		case "n2":
			done(cmd.Value, nil)
		} // n3 never answers
	}
	w, err := Find("wander")
	require.NoError(t, err)
	r := history.NewRecorder(nil, 0)
	stop := w.Start(Scene{Cluster: c, Recorder: r, Nodes: []string{"n1", "n2", "n3"}, Rand: rand.New(rand.NewPCG(1, 1)), First: 5, Stride: 20})
	c.run(10 * time.Second)
	stop()
	c.run(20 * time.Second)
	n := count(t, r)
	for _, what := range []string{"ok get", "ok put", "fail get", "fail put", "info get", "info put"} {
		require.Positive(t, n[what], what)
	}
	require.Equal(t, n["invoke get"], n["ok get"]+n["fail get"]+n["info get"])
	require.Len(t, asked, 3)
}
