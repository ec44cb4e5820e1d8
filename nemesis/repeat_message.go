package nemesis

import "recount/history"

// repeat-message has single messages arrive as they should, and once more when they are no longer expected.
func init() {
	message("repeat-message", "single messages of a kind arrive, and once more when something else has happened", history.Repeat, until)
}
