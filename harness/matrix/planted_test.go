package matrix

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/looked"
	"recount/harness/record"
)

// What was measured of the default matrix is said of no other.
func TestPlantedBugsAreToldOfTheDefaultMatrix(t *testing.T) {
	rows, err := ParseRows([]string{"raft"}, record.OnSim)
	require.NoError(t, err)
	p, err := Default(rows)
	require.NoError(t, err)
	require.NoError(t, p.Check())
	table := newTable(&p)
	for i := range table.Pairs {
		table.Pairs[i].Runs = 6
	}
	full := p.planted(table)
	require.Positive(t, full.Found)
	require.Greater(t, full.Bugs, full.Found)
	table.Pairs[3].Barred, table.Pairs[3].Runs = "too few nodes", 0
	require.Equal(t, full, p.planted(table), "nobody can run that")
	table.Pairs[4].Runs = 0
	require.Zero(t, p.planted(table).Found, "not one seed is whole")

	for what, change := range map[string]func(p *Plan){
		"columns":   func(p *Plan) { p.Columns = p.Columns[1:] },
		"nodes":     func(p *Plan) { p.Nodes = []int{3} },
		"workloads": func(p *Plan) { p.Workloads = nil },
		"time":      func(p *Plan) { p.Time = time.Second },
		"first":     func(p *Plan) { p.First = 7 },
		"place":     func(p *Plan) { p.On = record.OnVirtual },
	} {
		other := p
		change(&other)
		require.Nil(t, other.planted(table), what)
	}
	table.Looked, table.Planted = looked.Looked{Runs: 1}, full
	require.Equal(t, "planted", table.LookedAt()[len(table.LookedAt())-1].Name)
	table.Planted = nil
	require.Len(t, table.LookedAt(), len(table.Looked.Rows()))
}
