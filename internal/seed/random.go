// Package seed splits a run's one seed into independent streams, one for each purpose, so that a further use of one
// of them changes nothing for the others.
package seed

import (
	"hash/fnv"
	"math/rand/v2"
)

// New returns the stream of a seed for a purpose: "network", "node n3 life 2". The same two give the same stream.
func New(seed uint64, purpose string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(purpose)) // never fails
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// Turn has a stream go on as that of another seed for a purpose. Whoever holds it draws from that.
func Turn(stream *rand.Rand, seed uint64, purpose string) { *stream = *New(seed, purpose) }
