package nemesis

import "recount/history"

// hold-message has single messages arrive when they are no longer expected: an answer in the round after the one that it is for.
func init() {
	message("hold-message", "single messages of a kind arrive only when something else has happened", history.Hold, until)
}
