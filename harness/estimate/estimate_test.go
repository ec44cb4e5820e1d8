package estimate_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"recount/harness/estimate"
)

func TestChanceIsTheShareOfRunsThatAloneReachedSomething(t *testing.T) {
	var u estimate.Unseen[string]
	assert.Equal(t, "unknown", u.Chance().String())
	assert.Equal(t, 2, u.Add(slices.Values([]string{"a", "b", "a"})))
	assert.Equal(t, 1, u.Chance().Hits, "the first run had shown all there was")
	assert.Equal(t, 0, u.Add(slices.Values([]string{"b"})))
	assert.Equal(t, 1, u.Chance().Hits, "a is the first run's alone")
	assert.Equal(t, 1, u.Add(slices.Values([]string{"a", "c"})))
	assert.Equal(t, 1, u.Chance().Hits, "c is the third run's alone")
	assert.Equal(t, 0, u.Add(slices.Values([]string{"c"})))
	assert.Equal(t, 0, u.Chance().Hits)
	assert.Equal(t, 4, u.Runs())
	assert.Equal(t, 3, u.Keys())
	assert.Equal(t, []estimate.Point{{1, 2}, {2, 2}, {3, 3}, {4, 3}}, u.Curve())
}

// Where the truth is known, because what is drawn is known, the interval has it about 95 times of 100.
func TestIntervalHasTheTruth(t *testing.T) {
	const draws, kinds = 400, 300
	weight := make([]float64, kinds) // one kind is half as likely as the one before the next: many rare ones
	var sum float64
	for k := range weight {
		weight[k] = 1 / float64(k+1)
		sum += weight[k]
	}
	within := 0
	for s := range uint64(200) {
		rng := rand.New(rand.NewPCG(s, 1))
		var u estimate.Unseen[int]
		unseen := sum
		seen := map[int]bool{}
		for range draws {
			x, k := rng.Float64()*sum, 0
			for ; x > weight[k] && k < kinds-1; k++ {
				x -= weight[k]
			}
			u.Add(slices.Values([]int{k}))
			if !seen[k] {
				seen[k], unseen = true, unseen-weight[k]
			}
		}
		if c := u.Chance(); c.Low <= unseen/sum && unseen/sum <= c.High {
			within++
		}
	}
	assert.Greater(t, within, 180, "of 200")
}

func TestWilson(t *testing.T) {
	// By the formula of Wilson's paper, worked out elsewhere: 10 of 100.
	r := estimate.Of(10, 100)
	assert.InDelta(t, 0.0552, r.Low, 0.0001)
	assert.InDelta(t, 0.1744, r.High, 0.0001)
	assert.Equal(t, "10 % (5.5 to 17 %)", r.String())
	assert.Equal(t, estimate.Rate{Trials: 0, High: 1}, estimate.Of(0, 0))
	none, all := estimate.Of(0, 20), estimate.Of(20, 20)
	assert.Zero(t, none.Low)
	assert.Less(t, none.High, 0.17)
	assert.InDelta(t, 1, all.High, 0)
	assert.InDelta(t, 1, none.High+all.Low, 1e-12, "what is said of hits is said of misses")
	assert.Equal(t, "0.02 % (0.005 to 0.07 %)", estimate.Of(2, 10_000).String())
}

// More hits than trials are as many as there are trials: their bounds are numbers.
func TestMoreHitsThanTrials(t *testing.T) {
	assert.Equal(t, estimate.Of(3, 3), estimate.Of(5, 3))
	assert.Equal(t, estimate.Pool(estimate.Of(3, 3)), estimate.Pool(estimate.Rate{Hits: 5, Trials: 3}))
}

// By its rank, so that half of two values is the lower one, and 99 % of a hundred leave one out.
func TestQuantileIsAValueByItsRank(t *testing.T) {
	hundred := make([]int, 100)
	for i := range hundred {
		hundred[99-i] = i + 1
	}
	for share, want := range map[float64]int{0: 1, 0.01: 1, 0.07: 7, 0.5: 50, 0.501: 51, 0.99: 99, 1: 100} {
		got, ok := estimate.Quantile(hundred, share)
		assert.True(t, ok)
		assert.Equal(t, want, got, share)
	}
	_, ok := estimate.Quantile([]int{}, 0.5)
	assert.False(t, ok)
}
