package hunt

import (
	_ "embed"
	"strconv"
	"strings"

	"recount/harness/looked"
)

// Looked is how much a hunt has looked at.
type Looked struct {
	looked.Looked
	Planted Planted `json:"planted"`
}

// lookedAt adds what hunts as long are known to find.
func lookedAt(l looked.Looked) Looked { return Looked{l, PlantedIn(l.Runs)} }

// Planted is how a hunt of so many runs fares with bugs that were planted in the elections of targets/algorithms on purpose, as
// measured: see tools/planted, which makes the table.
type Planted struct {
	Bugs  int    `json:"bugs"`
	Found int    `json:"found"` // of them, those that most hunts find within as many runs
	Date  string `json:"date"`  // of the measurement
}

//go:embed planted.tsv
var plantedTable string

// PlantedIn is how many of the planted bugs as many runs find.
func PlantedIn(runs int) (p Planted) {
	for line := range strings.Lines(plantedTable) {
		if date, is := strings.CutPrefix(line, "# measured "); is {
			p.Date, _, _ = strings.Cut(date, ";")
			continue
		}
		columns := strings.Split(strings.TrimSpace(line), "\t")
		if len(columns) < 4 {
			continue
		}
		p.Bugs++
		if median, err := strconv.Atoi(columns[3]); err == nil && median >= 0 && median <= runs {
			p.Found++
		}
	}
	return p
}
