package matrix

import (
	_ "embed"
	"fmt"
	"slices"

	"recount/harness/looked"
	"recount/harness/record"
)

//go:embed planted.tsv
var plantedTable string

// planted is how many planted bugs a matrix like this one finds in them; nil where nobody has measured that: it was of every fault
// and scenario, as Default has them, from the first seed on.
func (p *Plan) planted(t *Table) *looked.Planted {
	usual, err := Default(p.Rows)
	like := func(a, b Column) bool { return a.Name == b.Name }
	if err != nil || p.On != record.OnSim || p.First > 1 || p.Time != 0 || !slices.EqualFunc(p.Columns, usual.Columns, like) ||
		!slices.Equal(p.Nodes, usual.Nodes) || !slices.Equal(p.Workloads, usual.Workloads) {
		return nil
	}
	var whole []int // seeds, of each pair
	for i := range t.Pairs {
		if pair := &t.Pairs[i]; pair.Barred == "" {
			whole = append(whole, pair.Runs)
		}
	}
	if len(whole) == 0 {
		return nil
	}
	found := looked.PlantedIn(plantedTable, slices.Min(whole))
	return &found
}

// LookedAt is how much all runs together have looked at, in words.
func (t *Table) LookedAt() []looked.Row {
	rows := t.Looked.Rows()
	if p := t.Planted; p != nil && len(rows) > 0 {
		rows = append(rows, looked.Row{Name: "planted", Words: fmt.Sprintf(
			"a matrix of as many seeds finds %d of %d bugs planted in elections on purpose (measured %s)", p.Found, p.Bugs, p.Date)})
	}
	return rows
}
