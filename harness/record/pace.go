package record

import "time"

// Faults that a run draws are paced by the silence that its target bears of a leader: one begins about every Gap silences, twice that at
// most, and holds for about Hold of them, twice that at most.
const (
	Gap  = 5
	Hold = 4
)

// FewFaults is how many faults a run needs at least to say much.
const FewFaults = 3

// RoomFor is how long a run is to be that surely has room for so many of them.
func RoomFor(faults int, silence time.Duration) time.Duration {
	return time.Duration(2*(faults*Gap+Hold)) * silence
}

// LongEnough is how long a run is to be that is not too short for FewFaults, in whole tens of seconds.
func LongEnough(silence time.Duration) time.Duration {
	const whole = 10 * time.Second
	return (RoomFor(FewFaults, silence) + whole - 1).Truncate(whole)
}
