package specfile

import (
	"regexp"
	"slices"

	"recount/targets"
)

// readAlarms reads which lines of a node's log it writes only if something is wrong with it.
func (s *Spec) readAlarms(_ value, f map[string]value) error {
	v, ok := f["alarms"]
	if !ok {
		return nil
	}
	for _, one := range v.list() {
		match, err := one.pattern()
		if err != nil {
			return err
		}
		if match.MatchString("") {
			return one.bad("alarms: ['assertion failed', 'two leaders in term']", "alarms: %#q matches every line", match)
		}
		s.Alarms = append(s.Alarms, match)
	}
	return nil
}

// alarmed wants alarms where it is promised that there are none.
func (s *Spec) alarmed(at value, property string) error {
	if property == targets.NoAlarm && len(s.Alarms) == 0 {
		return at.bad("alarms: ['assertion failed']", "promises: no-alarm, and no line of a log is one")
	}
	return nil
}

// Alarms implements election.Alarmer.
func (y *system) Alarms(line string) bool {
	return slices.ContainsFunc(y.Spec.Alarms, func(match *regexp.Regexp) bool { return match.MatchString(line) })
}
