package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// lost are the bugs that a table says were found and that are not found at the median any more, each with its line of the table.
func lost(all []hunted, table string) (names []string) {
	found := map[string]bool{}
	for line := range strings.Lines(table) {
		name, figures, _ := strings.Cut(strings.TrimSpace(line), "\t")
		var shape, half string
		var median int
		if n, _ := fmt.Sscan(figures, &shape, &half, &median); n == 3 && median >= 0 {
			found[name] = true
		}
	}
	for _, h := range all {
		if h.median() < 0 && found[h.name] {
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
