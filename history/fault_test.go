package history

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFaultIsCalledByWhomItParts(t *testing.T) {
	cut := func(pairs ...string) (links []Link) {
		for _, p := range pairs {
			links = append(links, Link{From: "n" + p[:1], To: "n" + p[1:], LinkState: LinkState{Cut: true}})
		}
		return links
	}
	for want, f := range map[string]Fault{
		"kill-all":                  {Name: "kill-all"},
		"isolate n1":                {Name: "isolate", Nodes: []string{"n1"}, Changes: Changes{Links: cut("12", "21", "13", "31")}},
		"kill n1 n2":                {Name: "kill", Nodes: []string{"n1", "n2"}},
		"cut-link n1 n2":            {Name: "cut-link", Nodes: []string{"n1", "n2"}, Changes: Changes{Links: cut("12", "21")}},
		"partition n1 n3 | n2":      {Name: "partition", Nodes: []string{"n1", "n3", "n2"}, Changes: Changes{Links: cut("12", "21", "32", "23")}},
		"partition n1 | n2 n3 | n4": {Name: "partition", Nodes: []string{"n1", "n2", "n3", "n4"}, Changes: Changes{Links: cut("12", "21", "13", "31", "14", "41", "24", "42", "34", "43")}},
		"partition n2 n3 n1":        {Name: "partition", Nodes: []string{"n2", "n3", "n1"}, Changes: Changes{Links: cut("12", "21", "13")}},
		"two-leaf n1 n2 n3":         {Name: "two-leaf", Nodes: []string{"n1", "n2", "n3"}, Changes: Changes{Links: cut("12", "21")}},
	} {
		require.Equal(t, want, f.Title())
	}
}
