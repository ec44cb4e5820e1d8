package harness

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/history"
	"recount/workloads"
)

// toldLog is a log that a test writes, by a clock that it moves.
type toldLog struct {
	*toldWrites
	now      time.Duration
	due      []func() // all after one lag
	recorder *history.Recorder
}

func newToldLog() *toldLog {
	l := &toldLog{recorder: history.NewRecorder(io.Discard, 0)}
	f := workloads.NewFence(func() time.Duration { return l.now }, l.recorder, []string{"n1", "n2"}, true, 2, 5)
	l.toldWrites = newToldWrites(f, func(_ time.Duration, f func()) { l.due = append(l.due, f) }, history.Bounds{})
	return l
}

func (l *toldLog) says(node string, token uint64, value int64, stage election.WriteStage, decided bool, by election.ID) {
	l.now += time.Millisecond
	l.take(node, election.WriteNews{Write: election.Write{Token: token, Value: value}, Stage: stage, Decided: decided, By: by})
}

func (l *toldLog) ops(t *testing.T) (words []string) {
	for _, f := range l.due {
		f()
	}
	l.due = nil
	h, err := l.recorder.History() // which checks that no process does two things at once
	require.NoError(t, err)
	for i := range h.Ops {
		words = append(words, h.Ops[i].Type.String()+" "+h.Ops[i].Node)
	}
	return words
}

// What nodes tell has ended a little later than it did: a line that tells of a beginning may have been under way.
func TestWritesThatNodesTellOfOverlapWithWhatWasUnderWay(t *testing.T) {
	l := newToldLog()
	l.says("n1", 1, 10, election.Begun, false, 0)
	l.says("n1", 1, 10, election.Accepted, false, 0)
	l.says("n2", 2, 20, election.Begun, false, 0)
	require.Equal(t, []string{"invoke n1", "invoke n2", "ok n1"}, l.ops(t))
	l.says("n2", 2, 20, election.Refused, false, 0)
	l.says("n1", 1, 11, election.Begun, false, 0)
	l.says("n1", 1, 12, election.Begun, false, 0) // before the other has ended
	l.says("n1", 1, 12, election.Unclear, false, 0)
	require.Equal(t, []string{"invoke n1", "invoke n1", "fail n2", "info n1"}, l.ops(t)[3:])
}

// A write of which nothing told that it began accuses nobody, but may have happened.
func TestAWriteWithoutABeginningIsUnknown(t *testing.T) {
	l := newToldLog()
	l.says("n1", 1, 10, election.Accepted, false, 0)
	require.Equal(t, []string{"invoke n1", "info n1"}, l.ops(t))
}

// The resource's own lines come in the order of its decisions.
func TestWritesThatTheResourceTellsOfAreInstants(t *testing.T) {
	l := newToldLog()
	l.says("s1", 2, 20, election.Accepted, true, 2)
	l.says("s1", 1, 10, election.Refused, true, 1)
	l.says("s1", 2, 21, election.Accepted, true, 0)
	l.says("s1", 2, 22, election.Unclear, true, 0)
	l.says("s1", 2, 23, election.Accepted, true, 0)
	require.Equal(t, []string{"invoke n2", "ok n2", "invoke n1", "fail n1", "invoke ", "ok ", "invoke ", "info ", "invoke ", "ok "}, l.ops(t))
}
