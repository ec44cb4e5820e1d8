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

// listening are the ports of TCP on which somebody in a node's network namespace waits for connections, as the kernel has them, and those of
// them at which nobody but the node itself reaches him.
func (a *agent) listening(node string) (ports, alone []int, err error) {
	p, err := a.place(node)
	if err != nil {
		return nil, nil, err
	}
	open := map[int]bool{} // to others
	for _, table := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", p.anchor.pid, table))
		if table == "tcp6" && errors.Is(err, os.ErrNotExist) {
			continue // a kernel may have no IPv6
		}
		if err != nil {
			return nil, nil, fmt.Errorf("ports of %s: %w", node, err)
		}
		for _, l := range parseListening(string(text)) {
			open[l.port] = open[l.port] || l.open
		}
	}
	for _, port := range slices.Sorted(maps.Keys(open)) {
		if ports = append(ports, port); !open[port] {
			alone = append(alone, port)
		}
	}
	return ports, alone, nil
}

// listener is a port on which somebody waits for connections, from other machines or only from his own.
type listener struct {
	port int
	open bool
}

// resolver is the address of the engine's own names, in the order of bytes of the machines that it runs on.
const resolver = "0B00007F" // 127.0.0.11

// parseListening reads /proc/net/tcp, or tcp6: under a head, a line for each socket, with its number, its own address and port, the other's, and
// its state.
func parseListening(text string) (listeners []listener) {
	const listens = "0A"
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[3] != listens {
			continue
		}
		addr, port, _ := strings.Cut(fields[1], ":")
		if n, err := strconv.ParseUint(port, 16, 16); err == nil && addr != resolver {
			listeners = append(listeners, listener{int(n), !isOwn(addr)})
		}
	}
	return listeners
}

// isOwn reports whether an address, as the kernel writes it there, is one of the machine's own: 127.0.0.0/8, ::1, or the former in the words of IPv6.
func isOwn(addr string) bool {
	const v6, mapped = "00000000000000000000000001000000", "0000000000000000FFFF0000"
	rest := strings.TrimPrefix(addr, mapped)
	return addr == v6 || len(rest) == 8 && strings.HasSuffix(rest, "7F")
}
