package bugs

import (
	"fmt"
	"strings"
)

// described is a published bug that shows on servers which a file of the examples describes. Rows are of targets that the program has
// inside, so what was measured stands here.
type described struct {
	bug, source, property string
	runs                  []describedRuns
}

// describedRuns are runs of one version, and how to make one.
type describedRuns struct {
	about, shown, command string
}

var describeds = []described{
	{
		"River before 0.0.22: a lease lasts no longer than until its leader is to renew it. It is over then each time, by as long as that takes to " +
			"reach the database; where another client asks for it in between, both lead until the first is told",
		"https://github.com/riverqueue/river/pull/217",
		"exclusive-leadership",
		[]describedRuns{
			{
				"River 0.0.20 over PostgreSQL 15, in containers", "**5 of 5**",
				"recount run examples/river/slow.yaml --target examples/river/election.yaml --on docker --opt version=0.0.20",
			},
			{
				"River 0.0.22", "0 of 5",
				"recount run examples/river/slow.yaml --target examples/river/election.yaml --on docker --opt version=0.0.22",
			},
		},
	},
}

// describedPage tells of them.
func describedPage(b *strings.Builder) {
	b.WriteString("\n## Shown by spec files\n\nOn servers that a file in [examples/](../examples/README.md) describes, with the seeds from 1.\n\n" +
		"| bug | property | ran on | shown | by |\n|---|---|---|---|---|\n")
	for _, d := range describeds {
		bug, property := fmt.Sprintf("[%s](%s)", d.bug, d.source), "`"+d.property+"`"
		for _, r := range d.runs {
			fmt.Fprintf(b, "| %s | %s | %s | %s | `%s` |\n", bug, property, r.about, r.shown, r.command)
			bug, property = "", ""
		}
	}
}
