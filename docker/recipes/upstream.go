package recipes

import (
	"fmt"
	"maps"
	"slices"

	"recount/election"
	"recount/internal/hint"
)

// Upstream is an image that a system's makers publish, and the programs in it that Recount's own image is to hold.
type Upstream struct {
	Ref   string
	Files map[string]string // path in their image to path in ours
}

// upstreams are the systems whose makers publish images of static programs.
var upstreams = map[string]func(version string) Upstream{
	"etcd": func(version string) Upstream {
		return Upstream{"quay.io/coreos/etcd:v" + version, map[string]string{"/usr/local/bin/etcd": "usr/bin/etcd"}}
	},
	"nats": func(version string) Upstream {
		return Upstream{"docker.io/library/nats:" + version, map[string]string{"/nats-server": "usr/bin/nats-server"}}
	},
}

// Published returns the image of that version which the system's makers publish.
func Published(image election.Image) (Upstream, error) {
	of, ok := upstreams[image.Recipe]
	if !ok {
		return Upstream{}, hint.Add(fmt.Errorf("recipes: %s: nobody publishes an image of it that could be pulled", image.Recipe),
			"recount images build %s:%s builds it; pulled can be: %v", image.Recipe, image.Version, slices.Sorted(maps.Keys(upstreams)))
	}
	return of(image.Version), nil
}
