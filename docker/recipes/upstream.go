package recipes

import (
	"fmt"

	"recount/election"
	"recount/internal/hint"
)

// Upstream is an image that a system's makers publish, and the programs in it that Recount's own image is to hold.
type Upstream struct {
	Ref   string
	Files map[string]string // path in their image to path in ours
}

// Published returns the image of that version which the system's makers publish.
func Published(image election.Image) (Upstream, error) {
	if s := systems[image.Recipe]; s.Published != nil {
		if up := s.Published(image.Version); up.Ref != "" {
			return up, nil
		}
	}
	return Upstream{}, hint.Add(fmt.Errorf("%s: nobody publishes an image of it that could be pulled", image.Recipe),
		"recount images build %s:%s builds it; pulled can be: %v", image.Recipe, image.Version, published())
}

// published are the systems whose makers publish images of static programs, sorted.
func published() (names []string) {
	for _, name := range Known() {
		if systems[name].Published != nil {
			names = append(names, name)
		}
	}
	return names
}
