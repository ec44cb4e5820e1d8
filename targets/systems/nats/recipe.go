package nats

import (
	"fmt"
	"regexp"

	"recount/docker/recipes"
)

func init() {
	recipes.Register(recipes.System{Name: "nats", Versions: "all from 2.9.0 on", Recipe: recipe, Published: published})
}

var versions = regexp.MustCompile(`^2\.(9|[1-9][0-9])\.(0|[1-9][0-9]*)$`)

const recipeMod = `module recount/recipes/nats

go 1.23

require github.com/nats-io/nats-server/v2 v%s
`

// recipe is how a version is made: the server's own main package.
func recipe(version string) recipes.Recipe {
	if !versions.MatchString(version) {
		return nil
	}
	return recipes.GoMain{
		Mod:  fmt.Sprintf(recipeMod, version),
		Pkg:  "github.com/nats-io/nats-server/v2",
		Path: "usr/bin/nats-server",
	}
}

func published(version string) recipes.Upstream {
	if !versions.MatchString(version) {
		return recipes.Upstream{}
	}
	return recipes.Upstream{Ref: "docker.io/library/nats:" + version, Files: map[string]string{"/nats-server": "usr/bin/nats-server"}}
}
