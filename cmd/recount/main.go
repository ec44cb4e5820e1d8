// Recount tests leader elections: it breaks them and judges from what was seen whether they kept their promises.
package main

import (
	"recount/cli"
	_ "recount/targets/builtin" // the elections that it comes with
)

func main() { cli.Main() }
