// Recount tests leader elections: it breaks them and judges from what was seen whether they kept their promises.
package main

import "recount/cli"

func main() { cli.Main() }
