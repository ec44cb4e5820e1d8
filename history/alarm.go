package history

// Alarm is of the harness, info: a node has written to its log what it writes only if something is wrong with it. Error is the line, or
// its beginning.
const Alarm F = "alarm"

func init() { register(kind{name: Alarm, alone: noticed, ofNode: true}) }
