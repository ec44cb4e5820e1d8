package member

import (
	"context"
	"encoding/json"
	"log"
	"net"
	"time"
)

// resource is the way to the guarded resource: a connection over which writes go out as {"token":…,"value":…}, one a
// line, and {"accepted":true} or false comes back for each.
//
// Through a harness that looks for the writer, {"look":true} goes out as well, and {"leads":…,"term":…} or {"error":…} comes back.
//
// A write is sent once or not at all. Where the connection breaks, those under way are lost, or not: nobody will know.
type resource struct {
	WriterConfig
	log     *log.Logger
	pending chan access
}

type access struct {
	Token uint64 `json:"token"`
	Value int64  `json:"value"`
}

type outcome struct {
	Accepted bool `json:"accepted"`
}

func newResource(c WriterConfig, l *log.Logger) *resource {
	return &resource{c, l, make(chan access, 16)}
}

// write hands a write over. It does not wait: a write that the resource is too slow for is dropped.
func (r *resource) write(token uint64, value int64) {
	select {
	case r.pending <- access{token, value}:
	default:
		r.log.Printf("write %d with token %d dropped: the resource does not keep up", value, token)
	}
}

// run sends the writes until ctx ends.
func (r *resource) run(ctx context.Context) {
	var l *connection
	for {
		select {
		case a := <-r.pending:
			if l.broken() {
				var err error
				if l, err = r.dial(ctx); err != nil {
					r.log.Printf("write %d with token %d dropped: %v", a.Value, a.Token, err)
					continue
				}
			}
			if err := json.NewEncoder(l.conn).Encode(a); err != nil {
				r.log.Printf("write %d with token %d: %v", a.Value, a.Token, err)
				l.conn.Close()
			}
		case <-ctx.Done():
			return
		}
	}
}

// connection is one connection to the resource.
type connection struct {
	conn net.Conn
	gone chan struct{} // closed when the other end has closed it
}

func (l *connection) broken() bool {
	if l == nil {
		return true
	}
	select {
	case <-l.gone:
		return true
	default:
		return false
	}
}

const dialPatience = time.Second

func (r *resource) dial(ctx context.Context) (*connection, error) {
	within, cancel := context.WithTimeout(ctx, dialPatience)
	defer cancel()
	conn, err := r.Dial(within)
	if err != nil {
		return nil, err
	}
	l := &connection{conn, make(chan struct{})}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	go func() {
		r.listen(conn)
		stop()
		conn.Close()
		close(l.gone)
	}()
	return l, nil
}

// listen reads the answers on a connection to its end.
func (r *resource) listen(conn net.Conn) {
	for answers := json.NewDecoder(conn); ; {
		var o outcome
		if err := answers.Decode(&o); err != nil {
			return
		}
		if !o.Accepted {
			r.log.Printf("a write was refused")
		}
	}
}
