package specfile

import (
	"regexp"
	"slices"

	"recount/targets"
)

// readLines reads which lines of a node's log it writes only if something is wrong with it, and which it is to write sometimes.
func (s *Spec) readLines(_ value, f map[string]value) (err error) {
	if s.Alarms, err = linesOf(f, "alarms", "['assertion failed', 'two leaders in term']"); err != nil {
		return err
	}
	s.Sometimes, err = linesOf(f, "sometimes", "['installed snapshot', 'stepped down']")
	return err
}

// linesOf reads patterns of lines.
func linesOf(f map[string]value, field, example string) (all []*regexp.Regexp, err error) {
	v, ok := f[field]
	if !ok {
		return nil, nil
	}
	for _, one := range v.list() {
		match, err := one.pattern()
		if err != nil {
			return nil, err
		}
		if match.MatchString("") {
			return nil, one.bad(field+": "+example, "%s: %#q matches every line", field, match)
		}
		all = append(all, match)
	}
	return all, nil
}

// alarmed wants alarms where it is promised that there are none.
func (s *Spec) alarmed(at value, property string) error {
	if property == targets.NoAlarm && len(s.Alarms) == 0 {
		return at.bad("alarms: ['assertion failed']", "promises: no-alarm, and no line of a log is one")
	}
	return nil
}

// Sometimes implements election.Sometimes.
func (y *system) Sometimes() []*regexp.Regexp { return y.Spec.Sometimes }

// Alarms implements election.Alarmer.
func (y *system) Alarms(line string) bool {
	return slices.ContainsFunc(y.Spec.Alarms, func(match *regexp.Regexp) bool { return match.MatchString(line) })
}
