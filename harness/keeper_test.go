package harness

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness/record"
	"recount/internal/hint"
)

// TestClientsReadAndWriteByAFile has clients read and write a number of real servers of which a file says how.
func TestClientsReadAndWriteByAFile(t *testing.T) {
	const file = "testdata/keeper/election.yaml"
	run := func(target, reads string) (*record.Run, record.Verdict) {
		p := record.Plan{
			Target: target, On: record.OnVirtual, Nodes: 3, Seed: 1, Time: 5 * time.Second, Workloads: []string{"register"},
			Options: map[string]string{"reads": reads},
		}
		rep, err := Run(context.Background(), p, Config{Results: t.TempDir()})
		require.NoError(t, err)
		i := slices.IndexFunc(rep.Verdicts, func(r record.Verdict) bool { return r.Property == "linearizable" })
		return rep, rep.Verdicts[i]
	}
	rep, result := run(file, "leader")
	require.Equal(t, checkers.Valid, result.Verdict, result.Why)
	require.Empty(t, rep.Unread)

	_, result = run(file, "copy")
	require.Equal(t, checkers.Invalid, result.Verdict, "a copy is old")

	text, err := os.ReadFile(file)
	require.NoError(t, err)
	folder, err := filepath.Abs(filepath.Dir(file))
	require.NoError(t, err)
	mistaken := strings.NewReplacer("package: .", "package: "+folder, "unset: '^$'", "at: value").Replace(string(text))
	mine := filepath.Join(t.TempDir(), "mine.yaml")
	require.NoError(t, os.WriteFile(mine, []byte(mistaken), 0o644))
	rep, result = run(mine, "leader")
	require.Equal(t, checkers.Unknown, result.Verdict, "no read was understood")
	require.Contains(t, rep.Unread, "Answers with no number of the register: ")
	require.Contains(t, rep.Unread, "The first: the answer has no value; the answer is `")

	// A file whose writes nobody takes looks like a leader in name only: the run's sentence says how they were refused.
	require.NoError(t, os.WriteFile(mine, []byte(strings.Replace(mistaken, "'/x/{{", "'/y/{{", 1)), 0o644))
	rep, _ = run(mine, "leader")
	require.Contains(t, rep.Unread, "No node took a write to the register. The last refused it: it refused: 404 Not Found: 404 page not found")
	require.NoError(t, os.WriteFile(mine, []byte(mistaken), 0o644))

	// validate does it once.
	try := func(target string) *Probe {
		p, err := Try(context.Background(), record.Plan{Target: target, On: record.OnVirtual, Nodes: 3}, Config{Results: t.TempDir()})
		require.NoError(t, err)
		require.True(t, p.Kept)
		return p
	}
	require.NoError(t, try(file).Keeps)
	require.ErrorContains(t, try(mine).Keeps, "is no JSON")
}

// short keeps a number in so few bits that those of wander do not fit.
type short struct {
	trial
	number uint32
}

func (s *short) register(string) (get func(context.Context) (uint64, error), put func(context.Context, uint64) error) {
	get = func(context.Context) (uint64, error) { return uint64(s.number), nil }
	return get, func(_ context.Context, value uint64) error {
		s.number = uint32(value)
		return nil
	}
}

func (s *short) do(ctx context.Context, _ string, f func(context.Context)) error {
	f(ctx)
	return nil
}

// What workloads write must come back whole, or reads are of what nobody has written.
func TestANumberThatIsKeptInPart(t *testing.T) {
	p := &Probe{Led: true}
	require.NoError(t, p.keep(t.Context(), &short{}, "n1"))
	require.ErrorContains(t, p.Keeps, "was written, and")
	require.Contains(t, hint.Line(p.Keeps), "answers before a write is done")
}
