package harness

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/history"
)

// A run that is killed in its middle leaves the one before it to be the latest.
func TestTheLatestRunIsOneThatIsOver(t *testing.T) {
	results := t.TempDir()
	p := record.Plan{Target: "raft", On: record.OnSim, Nodes: 3, Time: time.Second}
	s, err := resolve(p)
	require.NoError(t, err)
	r := &run{subject: s, Config: Config{Results: results, Progress: func(string) {}}}
	killed, err := r.open()
	require.NoError(t, err)
	require.NoError(t, r.record(t.Context(), killed.Dir))
	require.NoFileExists(t, filepath.Join(results, "latest"), "nobody has judged it yet")

	over, err := Run(t.Context(), p, Config{Results: results})
	require.NoError(t, err)
	latest, err := filepath.EvalSymlinks(filepath.Join(results, "latest"))
	require.NoError(t, err)
	want, err := filepath.EvalSymlinks(over.Dir)
	require.NoError(t, err)
	require.Equal(t, want, latest)
}

// A node that ends again and again is told of each time, and the report has it once.
func TestWhatIsToldAgainIsKeptOnce(t *testing.T) {
	var told []string
	r := &run{Config: Config{Progress: func(line string) { told = append(told, line) }}}
	for _, node := range []string{"n1", "n2", "n1"} {
		r.note("%s ended", node)
	}
	require.Equal(t, []string{"n1 ended", "n2 ended", "n1 ended"}, told)
	require.Equal(t, []string{"n1 ended", "n2 ended"}, r.told)
}

// lame is a cluster whose nodes do not come up.
type lame struct {
	Cluster
	looks int
}

func (*lame) Start(context.Context) error { return errors.New("no such program") }

func (c *lame) State(ctx context.Context) (history.Changes, error) {
	c.looks++
	return c.Cluster.State(ctx)
}

// Of a run whose nodes did not come up nothing is to be healed, and nobody waits for them to be what they never were.
func TestNodesThatDidNotComeUpAreNotCompared(t *testing.T) {
	s, err := resolve(record.Plan{Target: "raft", On: record.OnSim, Nodes: 3, Time: time.Second})
	require.NoError(t, err)
	r := newRun(s, Config{}.heard(t.Context()))
	r.listen(io.Discard, 0)
	opened, err := r.openCluster(t.Context(), "")
	require.NoError(t, err)
	c := &lame{Cluster: opened}
	r.cluster = c
	r.begin()
	require.EqualError(t, r.proceed(t.Context()), "no such program")
	require.Zero(t, c.looks)
	require.Empty(t, r.told)
}
