package harness

import (
	"fmt"
	"slices"
	"time"

	"recount/harness/record"
	"recount/internal/count"
	"recount/internal/hint"
	"recount/internal/seed"
	"recount/nemesis"
)

// draw draws the schedule of a plan that names faults. Faults hold for about as long as four silences of a leader; where none of
// that length fits into the run, shorter ones are drawn, and the run's notes say so.
func (s *subject) draw() (err error) {
	if slices.ContainsFunc(s.Faults, isOwn) && len(s.target.Own) == 0 {
		return noneOwn(s.Target)
	}
	silence := s.bounds.Silence
	usual := Pace(s.target, &s.Plan)
	usual.Gap, usual.Hold = record.Gap*silence, record.Hold*silence
	for pace := usual; ; pace.Gap, pace.Hold = pace.Gap/2, pace.Hold/2 {
		if s.Schedule, err = nemesis.Generate(s.Faults, pace, seed.New(s.Seed, "schedule")); err != nil {
			return err
		}
		switch {
		case len(s.Schedule) == 0 && pace.Hold > silence/2:
			continue
		case len(s.Schedule) == 0:
			return hint.Add(fmt.Errorf("%v is too short for a fault of %s", s.Time, s.Target),
				"a %v of %v is long enough for at least one", hint.Named("time"), record.RoomFor(1, silence))
		case pace.Hold < usual.Hold:
			s.notes = append(s.notes, fmt.Sprintf("%v has room for faults of about %v only, where a leader may be silent for %v: those of about %v, which show more, "+
				"were left out; take a --time of %v", s.Time, pace.Hold.Round(time.Millisecond), silence, usual.Hold, record.RoomFor(1, silence)))
		case len(s.Schedule) < min(record.FewFaults, len(s.Faults)):
			s.notes = append(s.notes, fmt.Sprintf("%v has room for %s only: where a leader may be silent for %v, one begins about every %v, and holds for about %v; "+
				"a --time of %v makes room for more", s.Time, count.Of(len(s.Schedule), "fault"), silence, usual.Gap, usual.Hold, record.LongEnough(silence)))
		}
		return nil
	}
}

// noteBrief notes of a scenario for another target than this that each of its faults is over before anybody misses a leader. What its own
// target makes of it the scenario knows.
func (s *subject) noteBrief() {
	if s.Scenario == "" || len(s.Expect) > 0 || len(s.Schedule) == 0 {
		return
	}
	longest := time.Duration(0)
	for _, step := range s.Schedule {
		switch {
		case step.For > 0:
			longest = max(longest, step.For)
		case step.ForTimes > 0 && step.Of == "":
			longest = max(longest, time.Duration(step.ForTimes*float64(s.bounds.Silence)))
		default: // it lasts until the end, or as long as an option says
			return
		}
	}
	if silence := s.bounds.Silence; longest < silence {
		s.notes = append(s.notes, fmt.Sprintf("the scenario's faults last for %v at most, and a leader may be silent for %v: "+
			"nobody has to miss it meanwhile; for-times in a copy of it are multiples of that", longest, silence))
	}
}
