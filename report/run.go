// Package report is what people see of a run: a table on the terminal, a page with a picture of the run's time, a file
// for CI, an object for scripts. All of it is made from what a run leaves on disk, so it can be made again later.
package report

import (
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"recount/checkers"
	"recount/harness/record"
	"recount/internal/whole"
)

// The reports in a run's folder.
const (
	pageFile    = "report.html"
	textFile    = "report.txt"
	junitFile   = "junit.xml"
	PictureFile = "timeline.svg"
)

// Stored returns those of a run's reports for people that lie in its folder.
func Stored(folder fs.FS) (names []string) {
	for _, name := range []string{pageFile, textFile, PictureFile} {
		if _, err := fs.Stat(folder, name); err == nil {
			names = append(names, name)
		}
	}
	return names
}

// Page returns where the run's report lies.
func Page(r *record.Run) string { return filepath.Join(r.Dir, pageFile) }

// Write writes a judged run and all reports of it into its folder. The history is there already.
func Write(r *record.Run) error {
	if err := record.Write(r); err != nil { // before the page, which links to the drawings that are there
		return err
	}
	return whole.WriteForms(r.Dir, map[string]func(io.Writer, *record.Run) error{
		textFile: plainText, junitFile: JUnit, PictureFile: SVG, pageFile: HTML,
	}, r)
}

// ranked returns the verdicts of a run as people should meet them: what fails the run, other violations, promises that could
// not be decided, what holds, what nobody tested.
func ranked(r *record.Run) []*record.Verdict {
	vs := make([]*record.Verdict, len(r.Verdicts))
	for i := range r.Verdicts {
		vs[i] = &r.Verdicts[i]
	}
	slices.SortStableFunc(vs, func(a, b *record.Verdict) int { return rank(a) - rank(b) })
	return vs
}

func rank(v *record.Verdict) int {
	switch m := v.Meaning(); {
	case m == record.Broken:
		return 0
	case m.Missed():
		return 1
	case m == record.Met && v.Verdict == checkers.Invalid:
		return 2
	case v.Verdict == checkers.Invalid:
		return 3
	case m == record.Undecided:
		return 4
	case v.Verdict == checkers.Valid:
		return 5
	}
	return 6
}
