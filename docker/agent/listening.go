//go:build linux

package agent

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// listening are the ports of TCP on which somebody in a node's network namespace waits for connections, as the kernel has them.
func (a *agent) listening(node string) ([]int, error) {
	p, err := a.place(node)
	if err != nil {
		return nil, err
	}
	ports := map[int]bool{}
	for _, table := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", p.anchor.pid, table))
		if table == "tcp6" && errors.Is(err, os.ErrNotExist) {
			continue // a kernel may have no IPv6
		}
		if err != nil {
			return nil, fmt.Errorf("ports of %s: %w", node, err)
		}
		for _, port := range parseListening(string(text)) {
			ports[port] = true
		}
	}
	return slices.Sorted(maps.Keys(ports)), nil
}

// resolver is the address of the engine's own names, in the order of bytes of the machines that it runs on.
const resolver = "0B00007F" // 127.0.0.11

// parseListening reads /proc/net/tcp, or tcp6: under a head, a line for each socket, with its number, its own address and port, the other's, and
// its state.
func parseListening(text string) (ports []int) {
	const listens = "0A"
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[3] != listens {
			continue
		}
		addr, port, _ := strings.Cut(fields[1], ":")
		if n, err := strconv.ParseUint(port, 16, 16); err == nil && addr != resolver {
			ports = append(ports, int(n))
		}
	}
	return ports
}
