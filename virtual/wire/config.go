package wire

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Config is the text of a node's configuration: what it needs to know that is no number.
type Config struct {
	Host string // what the host name is
	// Root is the folder that the node's files lie in, absolute: the program sees it as "/". What is not in it does not
	// exist for the program, but for /dev/null and the like.
	Root string
	// Names are those of the cluster's nodes, with their addresses.
	Names map[string][4]byte
}

// Text encodes c. An error names what cannot be said.
func (c Config) Text() (string, error) {
	var b strings.Builder
	line := func(key, value string) error {
		if strings.ContainsAny(value, "\n\x00") {
			return fmt.Errorf("%s %q has a line break", key, value)
		}
		fmt.Fprintf(&b, "%s=%s\n", key, value)
		return nil
	}
	if err := line("host", c.Host); err != nil {
		return "", err
	}
	if err := line("root", strings.TrimRight(c.Root, "/")); err != nil {
		return "", err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Names)) {
		ip := c.Names[name]
		if err := line("name", fmt.Sprintf("%d.%d.%d.%d %s", ip[0], ip[1], ip[2], ip[3], name)); err != nil {
			return "", err
		}
	}
	if b.Len() > TextMax {
		return "", fmt.Errorf("the configuration of a node has %d bytes; there is room for %d", b.Len(), TextMax)
	}
	return b.String(), nil
}
