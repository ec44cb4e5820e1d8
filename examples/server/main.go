// Server is one member of an example's election: the second and the third of the three ways to Recount test it. See
// member for what it does, election.yaml for how Recount is told of it.
package main

import (
	"log"
	"os"

	"recount/targets/specfile/member"
)

func main() { log.Fatal(member.Main(os.Args[1:])) }
