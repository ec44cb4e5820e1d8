package bugs

import (
	"fmt"
	"strings"
)

// unshown is a published bug of an election that is no row.
type unshown struct {
	bug, source, why string
}

// unshowns are all of them, by system.
var unshowns = []unshown{
	{
		"etcd's raft library before 3.6: members that start at the same instant draw the same timeouts, campaign together, and split every vote",
		"https://github.com/etcd-io/etcd/issues/15784",
		"it takes clocks that agree to the nanosecond, and those of nodes are up to a millisecond apart, in virtual time too; with clocks that " +
			"agreed, 3.5.0 elected nobody in 20 of 20 runs, and 3.6.0 somebody in 20 of 20",
	},
	{
		"etcd's raft library 3.3.10 and older: who asks for pre-votes still counts itself among those who hear a leader",
		"https://github.com/etcd-io/etcd/issues/10355",
		"it shows where the members happen to draw timeouts that keep them apart: with one schedule in 2 of 6 runs, with another in 1 of 8",
	},
	{
		"hashicorp/raft 1.7.0: followers refuse the pre-vote of the leader that they had",
		"https://github.com/hashicorp/raft/issues/606",
		"they campaign themselves a timeout later; the leadership moves, and no property breaks",
	},
	{
		"hashicorp/raft 1.7.0: who grants a pre-vote waits anew for its leader",
		"https://github.com/hashicorp/raft/pull/609",
		"of three members, who could keep another one waiting so has its vote, and with that a majority, and wins",
	},
	{
		"hashicorp/raft: who cannot store its log wins election after election",
		"https://github.com/hashicorp/raft/issues/614",
		"with a full disk it stores its term, which needs no room, but not its log, and in 9 of 20 runs it was elected again, up to six times one after " +
			"the other, until another campaigned first; each time it steps down at once, and no property breaks",
	},
	{
		"hashicorp/raft before 1.3.11: a member that was taken out unawares is added again, does not vote, has the higher term, and deposes every leader",
		"https://github.com/hashicorp/raft/pull/526",
		"who is taken out here comes back with an empty disk and another identity, and so without that term: a member that was cut off, taken out " +
			"and added again did as much in 20 runs of 1.3.10 as in 20 of 1.3.11, and somebody led throughout",
	},
	{
		"NATS 2.10.14: any request for a vote sets a follower's election timer back",
		"https://github.com/nats-io/nats-server/pull/5315",
		"a follower that refuses a vote campaigns itself within 0.8 s, in that version as well",
	},
	{
		"NATS before 2.12: a server whose disk was emptied votes for one that lacks what it had stored itself",
		"https://github.com/nats-io/nats-server/pull/7038",
		"what is lost are messages of a stream, and nobody stores any in the servers here; the leader is elected by a majority, in a term of its own",
	},
	{
		"NATS before 2.14: who steps down forgets its vote",
		"https://github.com/nats-io/nats-server/pull/7698",
		"its makers found it unlikely in practice; the servers here tell no votes to be judged",
	},
	{
		"dragonboat 3.2: a candidate that cannot win sets back the election timers of those who could",
		"https://github.com/lni/dragonboat/blob/v3.3.0/CHANGELOG.md",
		"it was repaired in 3.3.0, and the servers here are of v4",
	},
	{
		"client-go 0.18.3: a lease is not released, because a release without a duration is refused",
		"https://github.com/kubernetes/client-go/issues/762",
		"the next leader only comes later; no property breaks",
	},
}

// unshownPage tells of them.
func unshownPage(b *strings.Builder) {
	b.WriteString("\n## What could not be shown, and why\n\n| bug | why it is no row |\n|---|---|\n")
	for _, u := range unshowns {
		fmt.Fprintf(b, "| [%s](%s) | %s |\n", u.bug, u.source, u.why)
	}
}
