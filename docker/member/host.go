package member

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"path/filepath"
	"time"

	"recount/election"
	"recount/history"
)

// host owns the algorithm: all of its methods but receive, ask and those of the journal belong to the goroutine that
// called run. It is the algorithm's election.Env.
type host struct {
	Config
	node    election.Node
	began   time.Time
	booted  time.Duration // what the machine's clock read then
	rand    *rand.Rand
	disk    *storage // the algorithm's
	own     *storage // the host's
	life    uint64   // counts the processes that ran on this data
	journal *journal
	mailbox chan event
	buf     []byte

	timers [election.MaxTimers]deadline
	calls  agenda // of the writer
	status election.Status
	known  bool // status was announced
	tenure uint64

	malformed, strange, unsent counter
}

// event is something for the owner to do: handle a message, or else call do.
type event struct {
	from election.ID
	msg  election.Message
	do   func()
}

type deadline struct {
	set bool
	at  time.Duration
}

// open takes up what a former life left on disk, and begins the next one.
func (h *host) open() (err error) {
	if h.disk, err = openStorage(filepath.Join(h.Data, "election")); err != nil {
		return err
	}
	if h.own, err = openStorage(filepath.Join(cmp.Or(h.Own, h.Data), "recount")); err == nil {
		h.life, err = h.own.next("life")
	}
	if err != nil {
		h.close()
		return err
	}
	h.rand = h.Config.Rand(fmt.Sprintf("node %v life %d", h.Config.ID, h.life))
	h.journal = newJournal(h.life)
	return nil
}

func (h *host) close() {
	h.disk.close()
	if h.own != nil {
		h.own.close()
	}
}

// run starts the algorithm and lets it go on until the process is asked to stop, which an algorithm that can resign does
// before, or until ctx ends.
func (h *host) run(ctx context.Context, stop <-chan struct{}) (err error) {
	defer func() {
		if p := recover(); p != nil {
			broken, ok := p.(diskError)
			if !ok {
				panic(p)
			}
			err = broken.error
		}
	}()
	h.node = h.New(h)
	h.node.Start()
	h.changed()
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	for {
		alarm.Reset(h.expire())
		select {
		case e := <-h.mailbox:
			if e.do != nil {
				e.do()
				continue
			}
			h.node.Receive(e.from, e.msg)
			h.changed()
		case <-alarm.C:
		case <-stop:
			if r, ok := h.node.(election.Resigner); ok {
				r.Resign()
				h.changed()
			}
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// expire lets the timers and calls happen that are due, and returns the time until the next one is.
func (h *host) expire() time.Duration {
	for t := range h.timers {
		if d := &h.timers[t]; d.set && d.at <= h.Now() {
			d.set = false
			h.node.Expire(election.Timer(t))
			h.changed()
		}
	}
	h.calls.keep(h.Now())
	next := h.calls.next(h.Now() + time.Hour)
	for _, d := range h.timers {
		if d.set {
			next = min(next, d.at)
		}
	}
	return max(0, next-h.Now())
}

// changed announces the algorithm's status if it is not what it was.
func (h *host) changed() {
	s := h.node.Status()
	if h.known && s == h.status {
		return
	}
	if s.Role == election.Leader && (h.status.Role != election.Leader || s.Term != h.status.Term) {
		h.tenure = must(h.own.next("tenure"))
	}
	h.status, h.known = s, true
	v := h.view()
	h.journal.add(Announcement{View: &v})
	h.Log.Printf("%v in term %d; leader: %s", v.Role, v.Term, cmp.Or(v.Leader, "none"))
}

func (h *host) view() history.View {
	v := history.ViewOf(h.status)
	if v.Role == history.Leader {
		v.Tenure = h.tenure
	}
	return v
}

// ask has the view answered by the owner, between two events. It returns false if ctx ends before.
func (h *host) ask(ctx context.Context) (v history.View, ok bool) {
	answer := make(chan history.View, 1)
	select {
	case h.mailbox <- event{do: func() {
		h.changed() // what it says may depend on its clock
		answer <- h.view()
	}}:
	case <-ctx.Done():
		return v, false
	}
	select {
	case v = <-answer:
		return v, true
	case <-ctx.Done():
		return v, false
	}
}

// command has a command carried out by the owner, between two events.
func (h *host) command(ctx context.Context, c election.Command, done func(value uint64, err error)) bool {
	select {
	case h.mailbox <- event{do: func() {
		if err := c.Carry(h.node, func(value uint64) { done(value, nil) }); err != nil {
			done(0, err)
		}
		h.changed()
	}}:
		return true
	case <-ctx.Done():
		return false
	}
}

// receive hands on what other members send, until ctx ends.
func (h *host) receive(ctx context.Context) error {
	members := map[netip.AddrPort]election.ID{}
	for i, m := range h.Members {
		members[m] = election.ID(i + 1)
	}
	var d decoder
	buf := make([]byte, maxDatagram+1)
	for {
		n, addr, err := h.Socket.ReadFromUDPAddrPort(buf)
		if err != nil {
			return fmt.Errorf("node: receive: %w", err)
		}
		from := members[netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port())]
		if from == election.None || from == h.ID() {
			h.strange.count(h.Log, "datagrams of no member dropped, the last from %v", addr)
			continue
		}
		m, err := d.message(buf[:n])
		if err != nil {
			h.malformed.count(h.Log, "malformed datagrams dropped, the last from %v", addr)
			continue
		}
		select {
		case h.mailbox <- event{from: from, msg: m}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
