package algorithms

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
)

// A holder gives a pledge back and asks for it again. Messages overtake each other: the pledge stands.
func TestReleaseThatWasOvertaken(t *testing.T) {
	const asked, released, again = 10 * time.Second, 12 * time.Second, 13 * time.Second
	p := pledge{length: time.Minute}
	p.bind(2, asked, 0)
	require.False(t, p.free(3, time.Second))
	require.False(t, p.released(3, released), "another's")

	p.bind(2, again, 0)
	require.False(t, p.released(2, released), "the release was sent before the second request")
	p.bind(2, asked, 0)
	require.False(t, p.released(2, released), "the first request comes last")
	require.False(t, p.free(3, time.Second))

	require.True(t, p.released(2, again+1))
	require.True(t, p.free(3, time.Second))
	p.bind(election.None, 0, 0)
	require.False(t, p.free(3, time.Second), "bound to nobody knows whom")
	require.True(t, p.free(3, time.Minute))
}

// A holder that stood still renews and releases at one instant. The answer to the renewal is to a session that is over.
func TestBlobLeaseReleasedAsItIsRenewed(t *testing.T) {
	s := newStage()
	b := &blobLease{env: s, leaseClock: leaseClock{env: s}, lease: 15 * time.Second, renew: 5 * time.Second, retry: time.Second}
	b.Start()
	answer := func() {
		b.Receive(storeID, election.Message{Kind: "Answer", OK: true, Term: 1, Value: uint64(s.now), Node: s.ID()})
	}
	s.now = time.Second
	answer()
	require.Equal(t, election.Leader, b.Status().Role)
	s.now = 14 * time.Second
	b.Expire(askTime)
	b.Resign()
	answer()
	require.NotEqual(t, election.Leader, b.Status().Role)
}

// The network repeats the answer to the first renewal: that is no second one.
func TestKubernetesLeaseIsRenewedOnceByAnAnswer(t *testing.T) {
	s := newStage()
	k := &kubernetesLease{env: s, leaseClock: leaseClock{env: s}, duration: 15 * time.Second, deadline: 10 * time.Second, retry: 2 * time.Second}
	k.Start()
	k.Receive(storeID, election.Message{Kind: "Object"})
	answer := election.Message{Kind: "Updated", OK: true, Term: 1, Value: 1, Node: s.ID()}
	s.now = time.Second
	k.Receive(storeID, answer)
	require.Equal(t, election.Leader, k.Status().Role)
	s.now = 12 * time.Second
	k.Receive(storeID, answer)
	s.now = 13 * time.Second
	require.NotEqual(t, election.Leader, k.Status().Role)
}
