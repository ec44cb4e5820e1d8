package looked

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlantedIn(t *testing.T) {
	const table = "# measured 2026-11-23; name, shape, half, runs\nsoon\tshape\topen\t3\t1\t1\nlate\tshape\theld\t40\t1\t1\nnever\tshape\topen\t-1\t0\t1\n"
	for much, found := range map[int]int{0: 0, 2: 0, 3: 1, 39: 1, 40: 2, 1 << 40: 2} {
		require.Equal(t, Planted{Bugs: 3, Found: found, Date: "2026-11-23"}, PlantedIn(table, much))
	}
	require.Zero(t, PlantedIn("", 5))
}
