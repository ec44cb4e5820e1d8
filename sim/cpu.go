package sim

import (
	"time"

	"recount/history"
)

// A node that gets a share of its processor works in the first part of each period of the run's clock, in no time as always, and
// stands still for the rest: its timers fire late, and what is sent to it waits. A process that begins takes its first steps at
// once.

// throttle gives the node's process a share of its processor. What has waited for it may go on.
func (n *node) throttle(share history.CPU) {
	if n.cpu = share; n.state == history.Up {
		n.resume()
	}
}

// await has an event wait until the process goes on, as the next period begins.
func (n *node) await(goes time.Duration, slot int32) {
	if len(n.waiting) == 0 {
		life := n.life
		n.c.After(goes-n.c.now, func() {
			if n.state == history.Up && n.life == life {
				n.resume()
			}
		})
	}
	n.waiting = append(n.waiting, slot)
}
