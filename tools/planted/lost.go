package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"strings"

	"recount/harness/looked"
)

// lost are the bugs that a table says were found, and that are not found at the median any more.
func lost(all []hunted, table string) (names []string) {
	before := maps.Collect(looked.TookIn(table))
	for _, h := range all {
		if took, known := before[h.name]; known && took >= 0 && h.median() < 0 {
			names = append(names, h.name)
		}
	}
	return names
}

// tellLost tells what was found when the table was written, and is not now.
func tellLost(w io.Writer, all []hunted, file string) error {
	table, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if names := lost(all, string(table)); len(names) > 0 {
		fmt.Fprintf(w, "\nFound once (%s), and not now: %s\nEither the search has become worse, or the election has got another guard, so that what is planted breaks nothing.\n",
			file, strings.Join(names, ", "))
	}
	return nil
}
