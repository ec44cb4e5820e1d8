// Package accept takes connections for as long as a listener is open.
package accept

import (
	"errors"
	"net"
	"time"
)

// again is how long after an error the next connection is taken.
const again = 50 * time.Millisecond

// Each calls take with each connection, one after the other, until the listener is closed, and returns the error that says so. Another
// error, as where no file can be opened or there is no memory for a connection just now, ends nothing; of several in a row failed is
// called with the first.
func Each(l net.Listener, take func(net.Conn), failed func(error)) error {
	for failing := false; ; {
		conn, err := l.Accept()
		switch {
		case err == nil:
			failing = false
			take(conn)
			continue
		case errors.Is(err, net.ErrClosed):
			return err
		case !failing:
			failing = true
			failed(err)
		}
		time.Sleep(again)
	}
}
