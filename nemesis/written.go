package nemesis

import (
	"errors"
	"fmt"

	"recount/internal/hint"
)

// CheckWritten finds what a person has written of a step that has no effect, though it looks as if it had one, and what is said
// twice. has are the fields that there are.
func (st Step) CheckWritten(has map[string]bool) error {
	var err error
	switch {
	case has["for"] && st.For == 0, has["for-times"] && st.ForTimes == 0:
		err = hint.Add(errors.New("a fault that lasts for no time"), "say how long, such as for: 10ms; what lasts until the run ends has neither for nor for-times")
	case has["for"] && has["for-times"]:
		err = hint.Add(errors.New("for beside for-times: both say how long"), "leave one of them out: for is a time, for-times a multiple of the target's silence")
	case has["wait"] && has["times"]:
		err = hint.Add(errors.New("wait beside times: both say how long after the cue"), "leave one of them out: wait is a time, times a multiple of the target's silence")
	case st.Of != "" && st.Times == 0 && st.ForTimes == 0:
		err = hint.Add(fmt.Errorf("of: %s multiplies nothing", st.Of), "it goes with times or for-times, such as for-times: 3")
	default:
		return nil
	}
	return fmt.Errorf("%s: %w", st.Place, err)
}
