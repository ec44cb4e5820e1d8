package targets

import (
	"time"

	"recount/history"
)

// The times of algorithms: those of their sources, multiplied by one number.

// Scale is the option that every algorithm has, so that its sources' times can be kept and a run still be short.
func Scale(by string) Option {
	return Option{Name: "scale", Kind: Number, Default: by, About: "what all of this target's times are multiplied by"}
}

// Scaled returns a Duration option multiplied by scale, within what timers can keep to.
func Scaled(o Options, name string) time.Duration {
	d := float64(o.Duration(name)) * o.Number("scale")
	return time.Duration(min(max(d, float64(100*time.Microsecond)), float64(1000*time.Hour)))
}

// BoundsOf are the times that an algorithm is judged by: what its own times come to, and a second for a machine that
// stutters. Polls are as frequent as heartbeats, so that a short leadership meets one.
func BoundsOf(silence, elect, heartbeat time.Duration) history.Bounds {
	return history.Bounds{
		Silence: silence,
		Elect:   elect + time.Second,
		Poll:    max(min(heartbeat, 50*time.Millisecond), time.Millisecond),
	}
}
