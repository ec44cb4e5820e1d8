package specfile

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"recount/internal/hint"
	"recount/internal/option"
)

// expression is a time made of durations and parameters: "2 * election-timeout + 500ms".
type expression []summand

type summand struct {
	times     float64
	parameter string // "" for a plain duration
	plain     time.Duration
}

func (e expression) value(o option.Values) (sum time.Duration) {
	for _, t := range e {
		d := t.plain
		if t.parameter != "" {
			d = o.Duration(t.parameter)
		}
		sum += time.Duration(t.times * float64(d))
	}
	return sum
}

func (s *Spec) readExpression(v value) (e expression, err error) {
	text, err := v.text()
	if err != nil {
		return nil, err
	}
	const way = "write a duration, a parameter, or a sum: 2 * election-timeout + 500ms"
	for _, part := range strings.Split(text, "+") {
		t := summand{times: 1}
		factor, rest, multiplied := strings.Cut(part, "*")
		if multiplied {
			if t.times, err = strconv.ParseFloat(strings.TrimSpace(factor), 64); err != nil || !(t.times > 0) {
				return nil, v.bad(way, "%s: %q is no number to multiply by", v.name, strings.TrimSpace(factor))
			}
			part = rest
		}
		word := strings.TrimSpace(part)
		if o := s.parameter(word); o != nil {
			if o.Kind != option.Duration && o.Kind != option.Wait {
				return nil, v.bad("its default is written with a unit: 500ms", "%s: parameter %s is no duration", v.name, word)
			}
			t.parameter = word
		} else if t.plain, err = time.ParseDuration(word); err != nil || t.plain <= 0 {
			h := way
			if known := s.parameterNames(); len(known) > 0 {
				h += "; parameters: " + strings.Join(known, ", ")
			}
			return nil, v.bad(h, "%s: %q is neither a duration nor a parameter", v.name, word)
		}
		e = append(e, t)
	}
	return e, nil
}

// readTimes reads what the election is judged by. Where Elect is not given it is ten silences, and 5 s for connections
// to be made anew.
func (s *Spec) readTimes(root value, f map[string]value) error {
	const way = "times: {silence: 1s}, the longest that a node hears nothing of a leader before it acts; it can be a parameter"
	v, ok := f["times"]
	if !ok {
		return root.bad(way, "times are missing")
	}
	t, err := v.fields("silence", "elect", "poll")
	if err != nil {
		return err
	}
	silence, ok := t["silence"]
	if !ok {
		return v.bad(way, "times: silence is missing")
	}
	if s.Times.Silence, err = s.readExpression(silence); err != nil {
		return err
	}
	for _, part := range s.Times.Silence {
		part.times *= 10
		s.Times.Elect = append(s.Times.Elect, part)
	}
	s.Times.Elect = append(s.Times.Elect, summand{times: 1, plain: 5 * time.Second})
	o, err := option.Parse(s.Name, s.Parameters, nil)
	if err != nil {
		return err
	}
	if elect, ok := t["elect"]; ok {
		if s.Times.Elect, err = s.readExpression(elect); err != nil {
			return err
		}
	}
	s.Times.Poll = usualPoll
	if poll, ok := t["poll"]; ok {
		if s.Times.Poll, err = poll.duration(); err != nil {
			return err
		}
		if s.Times.Poll < time.Millisecond {
			return poll.bad("50ms is usual", "poll: %v is too often", s.Times.Poll)
		}
	}
	if s.Times.Silence.value(o) <= 0 { // a parameter is to say how long it is
		return nil
	}
	if field, err := s.Times.check(o); err != nil {
		at, given := t[field]
		if !given {
			at = v
		}
		return &fault{at.Line, at.Column, err}
	}
	return nil
}

const usualPoll = 50 * time.Millisecond

// check says which of the times makes no sense with these values of the parameters.
func (t *Times) check(o option.Values) (field string, err error) {
	switch silence, elect := t.Silence.value(o), t.Elect.value(o); {
	case silence <= 0 || elect <= 0:
		return "silence", hint.Add(errors.New("times: silence or elect comes to nothing"), "give it a summand that is never 0s: 2 * timeout + 500ms")
	case elect <= silence:
		return "elect", hint.Add(fmt.Errorf("elect: %v is no longer than silence, %v, for which nobody need campaign", elect, silence),
			"elect: 10 * %v leaves room; without it, it is ten silences and 5s", silence)
	case t.Poll > silence:
		return "poll", hint.Add(fmt.Errorf("poll: %v is longer than silence, %v: whole leaderships would pass between two answers", t.Poll, silence),
			"%v is usual", min(usualPoll, silence/4))
	}
	return "", nil
}

func (e expression) String() string {
	var parts []string
	for _, t := range e {
		text := t.parameter
		if text == "" {
			text = t.plain.String()
		}
		if t.times != 1 {
			text = fmt.Sprintf("%g * %s", t.times, text)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " + ")
}
