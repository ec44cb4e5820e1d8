package algorithms

import (
	"encoding/json"
	"fmt"
	"slices"

	"recount/election"
	"recount/history"
	"recount/targets"
)

// What elections share that go through a store: candidates do not talk to each other but to a service that keeps a lease,
// an object or a line for them. The service is modelled by a member: n1 is the store and never leads, all others are
// candidates. So every fault can happen to it, and to the way there, that can happen to a node.
//
// The store is one process that answers one request after the other and has what it answers on disk. That is what a
// replicated one looks like from outside while it has its quorum; it has no other members to lose.

// storeID is the member that is the store.
const storeID election.ID = 1

// viaStore makes the store or a candidate, whichever the member is.
func viaStore(env election.Env, store, candidate func() election.Node) election.Node {
	if env.ID() == storeID {
		return store()
	}
	return candidate()
}

// keep puts all that a store knows on disk, before anybody is told of it.
func keep(env election.Env, state any) {
	b, err := json.Marshal(state)
	if err != nil {
		panic(fmt.Sprintf("targets: encode %T: %v", state, err)) // only types that always encode come here
	}
	env.Store("store", b)
	env.Sync()
}

// recall reads what keep has written, if it has.
func recall(env election.Env, state any) {
	if b := env.Load("store"); b != nil {
		if err := json.Unmarshal(b, state); err != nil {
			panic(fmt.Sprintf("targets: the store's own record: %v", err))
		}
		env.Sync() // the life before may have ended before it could
	}
}

// session is a number that no other life of any candidate has, so that a candidate that restarts is another one.
func session(env election.Env) uint64 { return env.Rand().Uint64() }

// reachesStore is what the liveness of such an election takes. The majority that others take is no use to it.
const reachesStore = "the store is up and all candidates reach it"

// isStore tells whether a node is the store.
func isStore(node string) bool { return node == storeID.String() }

// touchesStore reports whether a change concerns the store, the way there, its clock, or its disk.
func touchesStore(did history.Changes) bool {
	name := storeID.String()
	return slices.ContainsFunc(did.Links, func(l history.Link) bool {
		return (l.From == name || l.To == name) && l.LinkState != history.LinkState{} && targets.BreaksLinks(did)
	}) || slices.ContainsFunc(did.Procs, func(p history.Proc) bool { return p.Node == name && p.State != history.Up }) ||
		slices.ContainsFunc(did.Clocks, func(k history.Clock) bool { return k.Node == name }) || targets.FailsDisk(did, isStore)
}

// storePromises are those of an election through a store that numbers its leaderships. Nobody else keeps anything on disk.
func storePromises(more ...targets.Promise) []targets.Promise {
	return targets.OnDisksOf(isStore, append([]targets.Promise{
		{Property: "single-leader-per-term"},
		{Property: "fencing"},
		{Property: "agreement"},
		{Property: "sticky-leader", While: reachesStore, Suspended: touchesStore},
		{Property: "no-ping-pong", While: reachesStore, Suspended: touchesStore},
		{Property: "elects", While: reachesStore, Suspended: touchesStore},
		{Property: "learns-leader"},
	}, more...))
}
