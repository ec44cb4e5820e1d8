// Package bounded keeps the logs of programs up to a bound.
package bounded

import (
	"fmt"
	"io"
)

// MaxLog is how much is kept of one program's log, from its beginning, in bytes.
const MaxLog = 256 << 20

// Log writes as much as there is room for, and counts the rest. It may be told another place to write to at any time.
type Log struct {
	To   io.Writer
	Room int // in bytes; MaxLog for an empty log
	over int
}

func (l *Log) Write(p []byte) (int, error) {
	fits := p[:min(len(p), l.Room)]
	l.Room -= len(fits)
	l.over += len(p) - len(fits)
	if len(fits) == 0 {
		return len(p), nil
	}
	if n, err := l.To.Write(fits); err != nil {
		return n, err
	}
	return len(p), nil
}

// Rest is what stands in the place of all that there was no room for; empty if there was room.
func (l *Log) Rest() string {
	if l.over == 0 {
		return ""
	}
	return fmt.Sprintf("\n[recount: the log goes on for %d bytes that are left out: no more than %d MiB are kept of each]\n", l.over, MaxLog>>20)
}
