package looked

import (
	"iter"
	"strconv"
	"strings"
)

// Planted is how many of the bugs that were planted in the elections of targets/algorithms on purpose so much work finds, as it was
// measured: see tools/planted, which makes the tables.
type Planted struct {
	Bugs  int    `json:"bugs"`
	Found int    `json:"found"` // of them, those that most tries find with as much
	Date  string `json:"date"`  // of the measurement
}

// PlantedIn reads off a table how many of the bugs so much finds: runs of a hunt, or seeds of a matrix.
func PlantedIn(table string, much int) (p Planted) {
	for line := range strings.Lines(table) {
		if date, is := strings.CutPrefix(line, "# measured "); is {
			p.Date, _, _ = strings.Cut(date, ";")
		}
	}
	for _, took := range TookIn(table) {
		p.Bugs++
		if took >= 0 && took <= much {
			p.Found++
		}
	}
	return p
}

// TookIn goes through the bugs of a table: each one's name, and how much most tries take to find it, -1 if they do not.
func TookIn(table string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for line := range strings.Lines(table) {
			columns := strings.Split(strings.TrimSpace(line), "\t")
			if len(columns) < 4 {
				continue
			}
			took, err := strconv.Atoi(columns[3])
			if err != nil {
				took = -1
			}
			if !yield(columns[0], took) {
				return
			}
		}
	}
}
