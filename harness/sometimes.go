package harness

import (
	"fmt"
	"strings"

	"recount/election"
	"recount/harness/record"
	"recount/internal/count"
)

// heard returns what takes the lines of a member's log besides what it says of the election: alarms, and what is to come sometimes; nil if
// neither is wanted.
func (d *driven) heard(m election.Member) func(line string) {
	alarms := d.alarms(m)
	s, may := d.system.(election.Sometimes)
	if !may || len(s.Sometimes()) == 0 || m.Server {
		return alarms
	}
	matches := s.Sometimes()
	if d.came == nil {
		for _, match := range matches {
			d.came = append(d.came, record.Sometimes{Pattern: match.String()})
		}
	}
	return func(line string) {
		for i, match := range matches {
			if match.MatchString(line) {
				d.came[i].Times++
			}
		}
		if alarms != nil {
			alarms(line)
		}
	}
}

// Came tells how often each of the lines has come that are to come sometimes.
func (d *driven) Came() []record.Sometimes { return d.came }

// hopedFor keeps how often what is to come sometimes has come, and says what never did.
func (r *run) hopedFor(rep *record.Run) {
	c, tells := r.base.(tellsSometimes)
	if !tells {
		return
	}
	rep.Sometimes = c.Came()
	var never []string
	for _, s := range rep.Sometimes {
		if s.Times == 0 {
			never = append(never, fmt.Sprintf("%#q", s.Pattern))
		}
	}
	if len(never) > 0 {
		r.told = append(r.told, fmt.Sprintf("of %s that are to come sometimes %d did not: %s", count.Of(len(rep.Sometimes), "line"), len(never), strings.Join(never, ", ")))
	}
}
