package record

// Orders are the names of orders in which a node's goroutines go on in virtual time, those that can run at one instant; the
// simplest first, which is the default. A plan that says nothing has that.
//
// "fifo" is the order in which they became ready. "random" draws any of them. "pct" gives each a priority that is drawn, lets
// the highest go, and lowers it at drawn points: after Burckhardt and others, "A Randomized Scheduler with Probabilistic
// Guarantees of Finding Bugs" (ASPLOS 2010). Under the last two, who wakes another may be put aside for it.
var Orders = []string{FIFO, Random, PCT}

// The orders.
const (
	FIFO   = "fifo"
	Random = "random"
	PCT    = "pct"
)
