package batch

import "runtime/debug"

// floor keeps collections apart where little is kept: it counts as kept, and takes no memory for as long as nobody writes to it.
var floor []byte //nolint:unused // it is there to be kept

// SpareCollections has garbage collected seldom, for programs that make many short runs: these make much garbage and keep little.
func SpareCollections() {
	debug.SetGCPercent(400)
	floor = make([]byte, 16<<20)
}
