// Package builtin links all targets that Recount comes with: the program imports it, and tests that run them by name. A program
// of one's own that imports recount/cli or recount/recounttest has only the targets that it imports itself.
package builtin

import (
	"recount/targets"

	// What they register is all that is wanted of them.
	_ "recount/targets/algorithms"
	_ "recount/targets/algorithms/etcdraft"
	_ "recount/targets/systems/dragonboat"
	_ "recount/targets/systems/etcd"
	_ "recount/targets/systems/etcdelection"
	_ "recount/targets/systems/etcdraftserver"
	_ "recount/targets/systems/hashicorpraft"
	_ "recount/targets/systems/kuberneteslease"
	_ "recount/targets/systems/nats"
	_ "recount/targets/systems/redis"
	_ "recount/targets/systems/redlock"
	_ "recount/targets/systems/seaweedfsraft"
	_ "recount/targets/systems/zookeeper"
	_ "recount/targets/systems/zookeeperrecipe"
)

func init() { targets.BuiltinLinked() }
