package history

// Endless is of the harness, info: the nodes of a simulated cluster do far more than time passes for, and the run was cut short
// for it. Error says what they do.
const Endless F = "endless"

func init() { register(kind{name: Endless, alone: noticed}) }
