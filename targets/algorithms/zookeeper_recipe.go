package algorithms

import (
	"recount/election"
	"recount/history"
	"recount/targets"
)

func init() {
	targets.Register(&targets.Target{
		Name:  "zookeeper-recipe",
		Store: storeID,
		About: "an ephemeral sequential node for each candidate: the lowest leads, each watches the one before it",
		Source: `Hunt, Konar, Junqueira and Reed, "ZooKeeper" (2010), section 2.4; ZooKeeper Recipes and Solutions, ` +
			`"Leader Election"`,
		Options: []targets.Option{
			targets.Scale("0.1"),
			{Name: "session-timeout", Kind: targets.Duration, Default: "10s", About: "silence after which the store ends a session"},
			clockOption(),
		},
		Promises: storePromises(targets.Promise{
			Property: "exclusive-leadership",
			While:    "no clock drifts by more than 10 %, and an answer is neither slow nor comes to a node that stood still",
			Unless:   func(did history.Changes) bool { return targets.DriftsMore(did, 0.1) || targets.SlowsAnswers(did) },
		}),
		Bounds: func(o targets.Options) history.Bounds {
			timeout := targets.Scaled(o, "session-timeout")
			return lineBounds(timeout, timeout/3, 0)
		},
		// As ZooKeeper's client does, a candidate sends something every third of the timeout, counts itself as disconnected
		// after two thirds without an answer, and learns only from the store that its session has expired.
		Node: func(o targets.Options, env election.Env) election.Node {
			timeout := targets.Scaled(o, "session-timeout")
			return viaStore(env,
				func() election.Node { return &lineStore{env: env, timeout: timeout} },
				func() election.Node {
					return &inLine{
						env: env, leaseClock: leaseClock{env, o.Value("clock") == "wall"},
						ping: timeout / 3, trust: timeout * 2 / 3,
					}
				})
		},
	})
}
