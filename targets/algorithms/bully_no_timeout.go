package algorithms

import (
	"recount/election"
	"recount/history"
	"recount/targets"
)

func init() {
	targets.Register(&targets.Target{
		Name:    "bully-no-timeout",
		About:   "bully whose nodes, told to stand down, wait for ever for the victory of somebody higher",
		Source:  bullySource + ", section III, without the wait that state Election is left by",
		NoTerms: true,
		Options: bullyOptions(),
		// A node that dies after it has answered OK, or is slow, leaves all who heard it waiting: nothing is promised while
		// faults last. Afterwards the highest node is up, and its heartbeats end every wait.
		Promises: []targets.Promise{{Property: "agreement"}},
		Bounds: func(o targets.Options) history.Bounds {
			return postBounds(o, 2*targets.Scaled(o, "answer"))
		},
		Node: func(o targets.Options, env election.Env) election.Node { return newBully(o, env, 0) },
	})
}
