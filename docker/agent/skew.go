package agent

import (
	"fmt"
	"time"

	"recount/docker/agent/clock"
	"recount/history"
)

// Skew has the clocks of nodes err, and looks whether they do.
type Skew struct {
	Clocks []history.Clock `json:"clocks"`
}

// Skewed tells how long ago, when the reply was sent, the clocks of each node began to err so, and what was seen of it.
type Skewed struct {
	Ago map[string]time.Duration `json:"ago,omitempty"`
	Verified
}

// Told is what a process was told when it asked for the time.
type Told struct {
	At        time.Duration `json:"at"`        // on the agent's monotonic clock
	Wall      time.Duration `json:"wall"`      // by how much the wall clock was wrong
	Monotonic time.Duration `json:"monotonic"` // and the monotonic one
	Accuracy  time.Duration `json:"accuracy"`  // how far either may be out
}

// CheckClock tells whether an agent can have a clock err so on a machine of that architecture: nil, or an error that says
// why not.
func CheckClock(k history.Clock, architecture string) error {
	if architecture != "amd64" && architecture != "arm64" {
		return fmt.Errorf("clocks can be skewed on amd64 and arm64 only, and this engine's machine is %s", architecture)
	}
	return skewOf(k).Check()
}

func skewOf(k history.Clock) clock.Skew { return clock.Skew{Offset: k.Offset, Drift: k.Drift} }
