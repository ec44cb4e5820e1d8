//go:build linux

package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"recount/internal/hint"
)

// control answers the requests of one control stream. What changes something is done in the order it was asked for;
// what takes its time goes on beside it.
func (a *agent) control(ctx context.Context, stream net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex
	send := func(r Reply) {
		mu.Lock()
		defer mu.Unlock()
		err := WriteLine(stream, r)
		if errors.Is(err, errTooLong) {
			err = WriteLine(stream, Reply{ID: r.ID, Error: "the reply: " + err.Error()})
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "agent: reply:", err)
		}
	}
	a.traps.tells(func(s Sprung) { send(Reply{Sprung: &s}) })
	stalled := func(d time.Duration) { send(Reply{Stall: d}) }
	go watchStalls(ctx, stalled)
	go a.watchStarved(ctx, stalled)
	lines := Lines(stream)
	for lines.Scan() {
		var r Request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			fmt.Fprintln(os.Stderr, "agent: request:", err)
			return
		}
		if reply, changed := a.change(r); changed {
			send(reply)
		} else {
			go func() { send(a.look(r)) }()
		}
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(os.Stderr, "agent: request:", err)
	}
}

// change answers a request that is answered before the next is read; any other it leaves alone.
func (a *agent) change(r Request) (reply Reply, changed bool) {
	reply.ID = r.ID
	var err error
	switch {
	case r.Enter != nil:
		reply.Entered, err = a.enter(*r.Enter)
	case r.Attach != nil:
		err = a.attach(*r.Attach)
	case r.End:
		err = a.end()
	case r.Follow != nil:
		err = a.follow(*r.Follow)
	case r.Listen != nil:
		err = a.listen(*r.Listen)
	case r.Apply != nil:
		reply.Applied, err = a.apply(*r.Apply)
	case r.LetGo != nil:
		a.traps.release(*r.LetGo)
	default:
		return reply, false
	}
	return reply.failed(err), true
}

// look answers a request that others need not wait for.
func (a *agent) look(r Request) Reply {
	reply := Reply{ID: r.ID}
	var err error
	switch {
	case r.Verify != nil:
		reply.Verified, err = a.verify(*r.Verify)
	case r.Gauge != nil:
		reply.Gauged, err = a.gauge(*r.Gauge)
	case r.Skew != nil:
		reply.Skewed, err = a.skew(*r.Skew)
	case r.Ask != "":
		reply.Told, err = a.ask(r.Ask)
	case r.Clocks:
		reply.Readings = a.readings()
	case r.Read:
		reply.State, err = a.read()
	case r.Groups:
		reply.Groups, err = a.groups()
	case r.Abandon != nil:
		err = a.abandon(*r.Abandon)
	case r.Listening != "":
		reply.Ports, reply.Alone, err = a.listening(r.Listening)
	case r.TellApart != "":
		err = a.tellApart(r.TellApart)
	case r.Traffic:
		reply.Traffic, err = a.traffic()
	default:
		err = fmt.Errorf("request %d asks for nothing", r.ID)
	}
	return reply.failed(err)
}

// failed is the reply with an error, if there is one.
func (r Reply) failed(err error) Reply {
	if err != nil {
		r.Error, r.Hint = err.Error(), hint.Of(err)
	}
	return r
}
