// Package testseed is imported by tests for its effect: what they draw with rapid is the same each time, so that a test
// fails for what was changed and not for what was drawn, and what failed leaves no file in the tree, as the seed tells it.
// -rapid.seed draws other cases, as make prove does.
package testseed

import (
	"flag"

	_ "pgregory.net/rapid" // has the flag
)

func init() {
	for name, value := range map[string]string{"rapid.seed": "1", "rapid.nofailfile": "true"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
}
