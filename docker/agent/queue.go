//go:build linux

package agent

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"time"

	nfqueue "github.com/florianl/go-nfqueue/v2"
	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/google/nftables/xt"
	"github.com/mdlayher/netlink"

	"recount/history"
	"recount/internal/headers"
)

// delayQueue delays, reorders and paces packets: the kernel hands them to this process, which lets each go on when its time
// has come. Delays so look the same on every kernel, whether it can delay packets itself or not.
type delayQueue struct {
	selection
	rand   *rand.Rand
	kind   string // how packets get here
	pace   *pacer
	catch  func(head []byte, pass func()) fate
	end    context.CancelFunc // of its work; who calls it closes the socket
	socket *nfqueue.Nfqueue
}

const (
	queueNumber = 7
	queueMax    = 65535   // packets that wait; what comes then is lost
	queueBytes  = 8 << 20 // of packets' heads on their way from the kernel
	queueHead   = 128     // bytes of each packet that are needed to tell where it comes from
)

func (l *delayQueue) part(s history.LinkState) history.LinkState {
	return history.LinkState{Delay: s.Delay, Jitter: s.Jitter, Reorder: s.Reorder, Rate: s.Rate, Picked: s.Picked}
}

// install tries the ways in which kernels hand packets on: nftables' own, which not every kernel was built with, and the
// one that it inherits from iptables.
func (l *delayQueue) install(f *filter) error {
	l.name = "queue"
	var tried []error
	for _, way := range []struct {
		kind string
		to   expr.Any
	}{
		{"nftables queue", &expr.Queue{Num: queueNumber, Total: 1}},
		// struct xt_NFQ_info_v3: number, how many, flags, padding
		{"xtables queue", &expr.Target{Name: "NFQUEUE", Rev: 3, Info: &xt.Unknown{queueNumber, 0, 1, 0, 0, 0, 0, 0}}},
	} {
		l.whole, l.port, l.either = nil, nil, nil
		err := l.selection.install(f, func(f *family) *nftables.Chain { return f.arrival }, anything,
			func(*family) []expr.Any { return []expr.Any{way.to} })
		if err == nil {
			err = f.conn.Flush()
		}
		if err == nil {
			l.kind = way.kind
			return l.open(f)
		}
		tried = append(tried, fmt.Errorf("%s: %w", way.kind, err))
	}
	return errors.Join(tried...)
}

func (l *delayQueue) open(f *filter) (err error) {
	l.socket, err = nfqueue.Open(&nfqueue.Config{
		NetNS: int(f.space.file.Fd()), NfQueue: queueNumber, MaxPacketLen: queueHead, MaxQueueLen: queueMax,
		Copymode: nfqueue.NfQnlCopyPacket, WriteTimeout: time.Second,
	})
	if err != nil {
		return fmt.Errorf("open a packet queue: %w", err)
	}
	// Without room for a burst, or where the kernel reports that there was none, packets would be lost that should wait.
	if err := errors.Join(l.socket.SetOption(netlink.NoENOBUFS, true), l.socket.Con.SetReadBuffer(queueBytes)); err != nil {
		return errors.Join(fmt.Errorf("open a packet queue: %w", err), l.socket.Close())
	}
	ctx, end := context.WithCancel(context.Background())
	l.end = end
	l.pace = newPacer(l.rand, func(id uint32, pass bool) {
		verdict := nfqueue.NfDrop
		if pass {
			verdict = nfqueue.NfAccept
		}
		if err := l.socket.SetVerdict(id, verdict); err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "agent: packet queue:", err)
		}
	})
	err = l.socket.RegisterWithErrorFunc(ctx, func(a nfqueue.Attribute) int {
		if a.PacketID != nil && a.Payload != nil {
			size := len(*a.Payload)
			if a.CapLen != nil {
				size = int(*a.CapLen)
			}
			l.take(*a.PacketID, *a.Payload, size)
		}
		return 0
	}, func(err error) int {
		if ctx.Err() != nil {
			return 1
		}
		fmt.Fprintln(os.Stderr, "agent: packet queue:", err)
		return 0
	})
	if err != nil {
		end()
		return errors.Join(fmt.Errorf("open a packet queue: %w", err), l.socket.Close())
	}
	go l.pace.run(ctx)
	return nil
}

// take hands a packet to the traps first: what they hold is paced once they let it go.
func (l *delayQueue) take(id uint32, head []byte, size int) {
	switch l.catch(head, func() { l.pace.resume(id, head, size, time.Now()) }) {
	case goesOn:
		l.pace.take(id, head, size, time.Now())
	case lost:
		l.pace.verdict(id, false)
	}
}

func (l *delayQueue) stage(f *filter, s states) error {
	l.pace.set(s)
	return l.selection.stage(f, s)
}

// read finds in the kernel whose packets it hands on. What becomes of them is decided here.
func (l *delayQueue) read(f *filter) (states, error) {
	queued, err := l.selection.read(f)
	if err != nil {
		return nil, err
	}
	all := states{}
	for src := range queued {
		s := l.pace.state(src)
		s.Picked = false // traps know better which packets are looked at
		all[src] = s
	}
	return all, nil
}

// lose drops what waits of a source's packets.
func (l *delayQueue) lose(src source) { l.pace.lose(src) }

// origin tells the source of a packet from its first bytes, and the ports it has, if any.
func origin(head []byte) (from netip.Addr, ports [2]uint16) {
	h, _ := headers.Read(head)
	ports[0], ports[1], _ = h.Ports()
	return h.From, ports
}
