package member

import (
	"context"
	"encoding/json"
	"errors"
	"net"

	"recount/election"
)

// relay has the harness look whether the server leads, and write: it runs commands in the server's container, and a writer
// beside it cannot. The harness does one thing after the other, so that no look is answered before the write that was sent
// ahead of it has an outcome. It belongs to the writer's goroutine.
type relay struct {
	ctx     context.Context // of the writer's life
	to      *resource
	conn    net.Conn // nil while there is none
	answers *json.Decoder
	hangUp  func() bool
}

// look asks the harness for the server's status. No answer is an error: the server does not lead then.
func (r *relay) look() (election.Status, error) {
	if err := r.say(map[string]bool{"look": true}); err != nil {
		return election.Status{}, err
	}
	for {
		var told struct {
			Leads *bool
			Term  uint64
			Error string
		}
		if err := r.answers.Decode(&told); err != nil {
			r.close()
			return election.Status{}, err
		}
		switch {
		case told.Error != "":
			return election.Status{}, errors.New(told.Error)
		case told.Leads == nil: // of a write, which is recorded where it is answered
		case *told.Leads:
			return election.Status{Role: election.Leader, Term: told.Term}, nil
		default:
			return election.Status{Term: told.Term}, nil
		}
	}
}

// write hands a write to the harness.
func (r *relay) write(token uint64, value int64) {
	if err := r.say(access{token, value}); err != nil {
		r.to.log.Printf("write %d with token %d: %v", value, token, err)
	}
}

func (r *relay) say(what any) error {
	if r.conn == nil {
		within, cancel := context.WithTimeout(r.ctx, dialPatience)
		defer cancel()
		conn, err := r.to.Dial(within)
		if err != nil {
			return err
		}
		r.conn, r.answers = conn, json.NewDecoder(conn)
		r.hangUp = context.AfterFunc(r.ctx, func() { conn.Close() })
	}
	if err := json.NewEncoder(r.conn).Encode(what); err != nil {
		r.close()
		return err
	}
	return nil
}

func (r *relay) close() {
	if r.conn != nil {
		r.hangUp()
		r.conn.Close()
		r.conn = nil
	}
}
