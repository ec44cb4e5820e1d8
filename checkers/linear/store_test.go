package linear

import (
	"math"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
)

// A store may have had more writes than a goroutine's stack has room for: then it is not decided, and nothing falls over.
func TestAStoreOfManyWrites(t *testing.T) {
	writes := func(n int) []*Object {
		registers := []*Object{NewObject(false), NewObject(false)}
		for i := range n {
			o := registers[i%2]
			o.Add(Op{Kind: Put, Value: o.Number("a"), Call: time.Duration(2 * i), Return: time.Duration(2*i + 1), Begin: int32(i)})
		}
		return registers
	}
	found, _ := DecideStore(WithMemory(t.Context(), math.MaxInt64), writes(1000))
	require.Equal(t, porcupine.Ok, found.Answer)
	found, _ = DecideStore(WithMemory(t.Context(), math.MaxInt64), writes(storeDepth+2))
	require.Equal(t, porcupine.Unknown, found.Answer)
	require.Contains(t, found.Why, "goes too deep")
}
