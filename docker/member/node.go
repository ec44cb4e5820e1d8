// Package member is the process that runs one member of an election in real time: an algorithm over real sockets, clocks
// and disks, or the writer that lives beside a real system's server. It is what "recount node" runs in each container,
// and the harness's client of it.
package member

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"

	"recount/election"
	"recount/workloads"
)

// Config is one member.
type Config struct {
	ID      election.ID
	Members []netip.AddrPort // where each member sends datagrams from and receives them, in the order of their ids
	New     func(env election.Env) election.Node
	Rand    func(purpose string) *rand.Rand // independent streams of the run's randomness
	Data    string                          // the folder that survives a restart
	Own     string                          // a second one, of what is not the algorithm's; "" for Data
	Socket  *net.UDPConn                    // bound to this member's address
	Control net.Listener                    // where the harness connects
	Writer  *WriterConfig                   // nil for no writer
	Log     *log.Logger
}

// Run runs the member until ctx ends, has it resign if it can, and closes the socket and the listener. It fails when the
// disk or the network does: a member that cannot keep its promises must not go on.
func Run(ctx context.Context, c Config) error {
	// What the member needs goes on for as long as it takes to part in good order.
	running, fail := context.WithCancelCause(context.WithoutCancel(ctx))
	var work sync.WaitGroup
	defer work.Wait()
	defer fail(nil)
	context.AfterFunc(running, func() { // ends receive and serveControl
		c.Control.Close()
		c.Socket.Close()
	})
	h := &host{Config: c, began: time.Now(), booted: sinceBoot(), mailbox: make(chan event, 1024)}
	if err := h.open(); err != nil {
		return err
	}
	defer h.close()
	if c.Writer != nil {
		w := &residentWriter{host: h, resource: newResource(*c.Writer, c.Log)}
		w.rand = c.Rand(fmt.Sprintf("writer %v life %d", c.ID, h.life))
		work.Go(func() { w.resource.run(running) })
		workloads.NewWriter(w, c.ID, h.life, c.Writer.Every, c.Writer.Gap).Start()
	}
	work.Go(func() { fail(h.receive(running)) })
	work.Go(func() { fail(serveControl(running, c.Control, h.journal, h.ask, h.command, c.Log)) })
	if err := h.run(running, ctx.Done()); err != nil || ctx.Err() != nil {
		return err
	}
	return context.Cause(running)
}
