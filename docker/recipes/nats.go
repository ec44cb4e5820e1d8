package recipes

import (
	"fmt"
	"regexp"

	"recount/internal/hint"
)

func init() { systems["nats"] = nats }

var natsModule = regexp.MustCompile(`^2\.(9|[1-9][0-9])\.(0|[1-9][0-9]*)$`)

const natsMod = `module recount/recipes/nats

go 1.23

require github.com/nats-io/nats-server/v2 v%s
`

// nats is the recipe for a version: the server's own main package.
func nats(version string) (recipe, error) {
	if !natsModule.MatchString(version) {
		return nil, hint.Add(fmt.Errorf("no recipe for version %q", version), "known: all from 2.9.0 on")
	}
	return goMain{
		mod:  fmt.Sprintf(natsMod, version),
		pkg:  "github.com/nats-io/nats-server/v2",
		path: "usr/bin/nats-server",
	}, nil
}
