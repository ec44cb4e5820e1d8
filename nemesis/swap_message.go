package nemesis

import "recount/history"

// swap-message has single messages overtaken by the next one between the same two nodes.
func init() {
	message("swap-message", "single messages of a kind are overtaken by the next one to the same node", history.Swap)
}
