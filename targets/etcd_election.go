package targets

import (
	"recount/election"
	"recount/history"
)

func init() {
	Register(&Target{
		Real:   etcdElectionReal(),
		Name:   "etcd-election",
		Store:  storeID,
		About:  "a key for each candidate under a lease: the one created first leads, each waits for the one before it",
		Source: `etcd, go.etcd.io/etcd/client/v3/concurrency: Session, and Election's Campaign, Observe and Resign`,
		Options: []Option{
			scale("0.1"),
			{Name: "ttl", Kind: Duration, Default: "10s", About: "how long a lease lasts that is not kept alive"},
			{
				Name: "check", Kind: Duration, Default: "500ms",
				About: "time between looks for leases that have run out, by the client and by the server",
			},
			clockOption(),
		},
		// Holder and store count the same time, each for itself, and both look only now and then whether it is over: for as
		// long as lies between two looks there may be two leaders, when the holder cannot reach the store.
		Promises: storePromises(),
		Bounds: func(o Options) history.Bounds {
			ttl := scaled(o, "ttl")
			return lineBounds(ttl, ttl/3, scaled(o, "check"))
		},
		// As etcd's client does, a candidate keeps its lease alive every third of the TTL, gives up a session that was not
		// kept alive for a whole one, and begins another.
		Node: func(o Options, env election.Env) election.Node {
			ttl, check := scaled(o, "ttl"), scaled(o, "check")
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
