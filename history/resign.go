package history

// Resign is of a client: ask a leader to hand over; ok = it was asked while it led.
const Resign F = "resign"

func init() { register(kind{name: Resign, ofNode: true}) }
