package detector

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
)

// phi is the suspicion of section 4 of the paper, as it is defined there.
func phi(since, mean, deviation float64) float64 {
	return -math.Log10(1 - 0.5*(1+math.Erf((since-mean)/deviation/math.Sqrt2)))
}

func TestPhiAccrualIsPatientUntilPhi(t *testing.T) {
	for _, want := range []float64{4, 8, 12} {
		d := newPhiAccrual(want, time.Second)
		r := rand.New(rand.NewPCG(1, 2))
		now := time.Hour
		d.Heard(2, now)
		var sum, squares float64 // of those that the window still has
		for n := range 3 * phiWindow {
			x := min(max(r.NormFloat64()*0.3+1, 0.2), 1.8)
			now += time.Duration(x * float64(time.Second))
			d.Heard(2, now)
			if n >= 2*phiWindow {
				sum += x
				squares += x * x
			}
		}
		mean := sum / phiWindow
		deviation := math.Sqrt(squares/phiWindow - mean*mean)
		require.InDelta(t, want, phi(d.Patience().Seconds(), mean, deviation), 0.01)
	}
}

func TestPhiAccrualStartsAnewWithAnotherLeader(t *testing.T) {
	d := newPhiAccrual(8, time.Second)
	first := d.Patience()
	require.InDelta(t, 2.4, first.Seconds(), 0.01, "one lost heartbeat is no failure")
	for k := range 10 {
		d.Heard(2, time.Duration(k)*2*time.Second)
	}
	require.Greater(t, d.Patience(), 2*time.Second)
	require.LessOrEqual(t, d.Patience(), phiLongest*time.Second)
	d.Heard(3, time.Minute)
	require.Equal(t, first, d.Patience())
}

// A leader was dead for a minute. That is no interval between heartbeats.
func TestPhiAccrualDoesNotLearnFromFailures(t *testing.T) {
	d := newPhiAccrual(8, time.Second)
	d.Heard(2, 0)
	before := d.Patience()
	d.Heard(2, time.Minute)
	require.Equal(t, before, d.Patience())
}

func TestThresholdIsPatientForSoManyHeartbeats(t *testing.T) {
	d := threshold(3 * time.Second)
	d.Heard(election.ID(2), time.Hour)
	require.Equal(t, 3*time.Second, d.Patience())
}
