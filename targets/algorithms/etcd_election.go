package algorithms

import (
	"recount/election"
	"recount/history"
	"recount/targets"
)

func init() {
	targets.Register(&targets.Target{
		Name:   "etcd-election",
		Store:  storeID,
		About:  "a key for each candidate under a lease: the one created first leads, each waits for the one before it",
		Source: `etcd, go.etcd.io/etcd/client/v3/concurrency: Session, and Election's Campaign, Observe and Resign`,
		Options: []targets.Option{
			targets.Scale("0.1"),
			{Name: "ttl", Kind: targets.Duration, Default: "10s", About: "how long a lease lasts that is not kept alive"},
			{
				Name: "check", Kind: targets.Duration, Default: "500ms",
				About: "time between looks for leases that have run out, by the client and by the server",
			},
			clockOption(),
		},
		// Holder and store count the same time, each for itself, and both look only now and then whether it is over: for as
		// long as lies between two looks there may be two leaders, when the holder cannot reach the store.
		Promises: storePromises(),
		Bounds: func(o targets.Options) history.Bounds {
			ttl := targets.Scaled(o, "ttl")
			return lineBounds(ttl, ttl/3, targets.Scaled(o, "check"))
		},
		// As etcd's client does, a candidate keeps its lease alive every third of the TTL, gives up a session that was not
		// kept alive for a whole one, and begins another.
		Node: func(o targets.Options, env election.Env) election.Node {
			ttl, check := targets.Scaled(o, "ttl"), targets.Scaled(o, "check")
			return viaStore(env,
				func() election.Node { return &lineStore{env: env, timeout: ttl, sweep: check} },
				func() election.Node {
					return &inLine{
						env: env, leaseClock: leaseClock{env, o.Value("clock") == "wall"},
						ping: ttl / 3, trust: ttl, check: check, rejoin: true,
					}
				})
		},
	})
}
