package bugs

import "recount/harness/record"

// Elections of clients of River, which a file of the examples describes.
func init() {
	register(Row{
		Name: "river-short-lease",
		Bug: "A lease lasts no longer than until its leader is to renew it. It is over then each time, by as long as that takes to reach the " +
			"database; where another client asks for it in between, both lead until the first is told.",
		Sources:  []string{"https://github.com/riverqueue/river/pull/217"},
		Property: "exclusive-leadership",
		On:       []string{record.OnDocker},
		File:     "examples/river/slow.yaml",
		Options:  map[string]string{"version": "0.0.20"},
		Affected: "River 0.0.20 over PostgreSQL 15",
		Controls: []Control{{About: "River 0.0.22", Options: map[string]string{"version": "0.0.22"}}},
	})
}
