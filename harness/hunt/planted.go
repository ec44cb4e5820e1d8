package hunt

import (
	_ "embed"

	"recount/harness/looked"
)

// Looked is how much a hunt has looked at.
type Looked struct {
	looked.Looked
	Planted looked.Planted `json:"planted"` // what as many runs of hunts find
}

//go:embed planted.tsv
var plantedTable string

// lookedAt adds what hunts as long are known to find.
func lookedAt(l looked.Looked) Looked { return Looked{l, looked.PlantedIn(plantedTable, l.Runs)} }
