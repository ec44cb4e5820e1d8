package nemesis

import (
	"math/rand/v2"
	"time"

	"recount/history"
	"recount/internal/option"
)

// loss drops packets at random.
func init() {
	register(&Fault{
		Name:  "loss",
		About: "packets between nodes get lost at random",
		Aims:  ends,
		Ports: true,
		Options: []option.Option{
			{Name: "chance", Kind: option.Percent, Default: "30%", About: "share of the packets that get lost"}, way,
		},
		Draw: func(_ time.Duration, rnd *rand.Rand) map[string]string {
			return map[string]string{"chance": drawPercent(2, 90, rnd)}
		},
		Shape: func(s Scene) Shape {
			return constant(s.along(history.LinkState{Loss: s.Options.Percent("chance")}))
		},
	})
}

// ends are the aims of what befalls the links between two sets of nodes, and way its option.
var (
	ends = []Aim{{"one end", "leader"}, {"the other end", "others"}}
	way  = option.Option{
		Name: "way", Kind: option.Choice, Default: "both", Choices: []string{"both", "there", "back"},
		About: "which packets: of both ends, only those from the first end there, or only those that come back",
	}
)

// along brings the links between the two ends into a state, those of the way that was chosen.
func (s Scene) along(state history.LinkState) (c history.Changes) {
	if w := s.Options.Value(way.Name); w != "back" {
		c.Links = append(c.Links, links(s.Aims[0], s.Aims[1], state)...)
	}
	if w := s.Options.Value(way.Name); w != "there" {
		c.Links = append(c.Links, links(s.Aims[1], s.Aims[0], state)...)
	}
	return c
}
