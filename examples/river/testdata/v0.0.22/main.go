// Command v0.0.22 is the candidate with River 0.0.22.
package main

import "recount/examples/river/candidate"

func main() { candidate.Main() }
