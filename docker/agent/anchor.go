//go:build linux

package agent

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// Anchor does nothing until it is told to end. Its container owns a node's network namespace, address and name, which
// so outlive the node. As first process of its container it takes note of the end of whatever ran beside it.
func Anchor() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT, unix.SIGCHLD)
	for s := range signals {
		if s != unix.SIGCHLD {
			return
		}
		for pid := 1; pid > 0; {
			pid, _ = unix.Wait4(-1, nil, unix.WNOHANG, nil)
		}
	}
}
