package history

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Effect is what became of a change.
type Effect struct {
	Seen   Type          // OK: seen to have taken effect; Fail: seen that it has not, nothing of it; Info: could not be seen
	Spread time.Duration // from the first to the last node that it took effect on
	Err    error         // why Seen is not OK
	Found  Changes       // where Seen is Info: what is found to have come true all the same
	Missed string        // what traps that are taken away have waited for in vain, where that is known
}

// Partly is the effect of a change that has missed some things: they are not, or not surely, as they were to be. What all else is to
// be has come true, and it would be wrong to say of it that it has not, or may not have.
func Partly(c Changes, missed []Key, e Effect) Effect {
	if e.Seen == OK || len(missed) == 0 {
		return e
	}
	found := slices.DeleteFunc(c.States(), func(s State) bool { return slices.Contains(missed, s.Key()) })
	if len(found) > 0 {
		e.Seen, e.Found = Info, ChangesOf(found...)
	}
	return e
}

// Step is one of several changes that make up another, and what became of it.
type Step struct {
	Of Changes
	Effect
}

// InSteps is what became of a change that was made step by step: what may have changed anything did not certainly fail, and what came
// true of some steps is found where not all of it did.
func InSteps(steps ...Step) Effect {
	if len(steps) == 0 {
		return Effect{Seen: OK}
	}
	all := Effect{Seen: steps[0].Seen}
	var errs []error
	var found []Changes
	for _, s := range steps {
		if s.Seen != all.Seen {
			all.Seen = Info
		}
		all.Spread = max(all.Spread, s.Spread)
		errs = append(errs, s.Err)
		if s.Seen == OK {
			s.Found = s.Of
		}
		found = append(found, s.Found)
	}
	if all.Err = errors.Join(errs...); all.Seen == Info {
		all.Found = InTurn(found)
	}
	return all
}

// told is of how many states Came says what they are.
const told = 3

// Came says what has come true of a fault that was found: "n1 is down, link n1→n2 is cut, and 4 more".
func (f *Fault) Came() string {
	all := f.States()
	var words []string
	for _, s := range all[:min(len(all), told)] {
		words = append(words, s.Name()+" is "+s.Words())
	}
	came := strings.Join(words, ", ")
	if more := len(all) - told; more > 0 {
		came += fmt.Sprintf(", and %d more", more)
	}
	return came
}
