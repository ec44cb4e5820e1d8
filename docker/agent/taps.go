//go:build linux

package agent

import (
	"fmt"
	"os"
	"strings"

	"recount/history"
)

// tapped reports whether a process in a node's network namespace reads packets off its interfaces, as libpcap does: a packet socket
// (packet(7)) is given each of them before any filter is asked.
func (p *place) tapped() (bool, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/packet", p.anchor.pid))
	if os.IsNotExist(err) { // the kernel has no such sockets
		return false, nil
	}
	return err == nil && parseTaps(string(text)), err
}

// parseTaps reads /proc/net/packet: a line for each packet socket, whose fourth word is the protocol that it reads, 0 if it only sends.
func parseTaps(text string) bool {
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 3 && strings.Trim(fields[3], "0123456789abcdef") == "" && strings.Trim(fields[3], "0") != "" {
			return true
		}
	}
	return false
}

// taps adds the links that the filters of a node cannot keep from it.
func (v *Verified) taps(looks []*look) {
	taps := map[*place]bool{}
	for _, k := range looks {
		if k.suffers == (history.LinkState{}) {
			continue
		}
		is, known := taps[k.to]
		if !known {
			var err error
			if is, err = k.to.tapped(); err != nil {
				v.unsureLink(k, err.Error())
				continue
			}
			taps[k.to] = is
		}
		if is {
			v.wrongLink(k, "does not keep packets from "+k.To+": a process there reads them by a packet socket, as libpcap does, before any filter")
		}
	}
}
