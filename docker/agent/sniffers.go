//go:build linux

package agent

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"recount/history"
)

// sniffed are the protocols of Linux's packet sockets that are given packets of IP: all, IPv4 and IPv6, as /proc has them.
var sniffed = []string{"0003", "0800", "86dd"}

// sniffs reports whether a process in a node's network namespace reads packets off its interfaces, as libpcap does: a packet socket
// (packet(7)) is given each of them before any filter is asked.
func (p *place) sniffs() (bool, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/packet", p.anchor.pid))
	if os.IsNotExist(err) { // the kernel has no such sockets
		return false, nil
	}
	return err == nil && parseSniffers(string(text)), err
}

// parseSniffers reads /proc/net/packet: a line for each packet socket, whose fourth word is the protocol that it reads, 0 if it only sends.
func parseSniffers(text string) bool {
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 3 && slices.Contains(sniffed, fields[3]) {
			return true
		}
	}
	return false
}

// sniffers adds the links of whose packets nobody can tell whether the filters of a node keep them from it. They are told of once for all.
func (v *Verified) sniffers(looks []*look) {
	sniffs := map[*place]bool{}
	var names []string
	for _, k := range looks {
		if k.suffers == (history.LinkState{}) {
			continue
		}
		is, known := sniffs[k.to]
		if !known {
			var err error
			if is, err = k.to.sniffs(); err != nil {
				v.Unsure = append(v.Unsure, fmt.Sprintf("links into %s: %v", k.To, err))
				is = true
			} else if is {
				names = append(names, k.To)
			}
			sniffs[k.to] = is
		}
		if is {
			v.Missed = append(v.Missed, k.Key())
		}
	}
	if len(names) > 0 {
		v.Unsure = append(v.Unsure, fmt.Sprintf("links into %s: packets are read there by a packet socket, as libpcap does, before any filter",
			strings.Join(names, ", ")))
	}
}
