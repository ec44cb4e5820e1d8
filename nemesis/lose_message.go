package nemesis

import "recount/history"

// lose-message has single messages not arrive.
func init() {
	message("lose-message", "single messages of a kind are lost", history.Lose)
}
