package member

import (
	"log"
	"math/bits"
	"math/rand/v2"
	"time"

	"recount/election"
	"recount/history"
)

// What follows is election.Env.

func (h *host) ID() election.ID        { return h.Config.ID }
func (h *host) Size() int              { return len(h.Members) }
func (h *host) Rand() *rand.Rand       { return h.rand }
func (h *host) Wall() time.Time        { return time.Now().Round(0) }
func (h *host) Load(key string) []byte { return must(h.disk.load(key)) }

// Now reads the machine's monotonic clock, which goes on from one life to the next: a message may be of an earlier one.
func (h *host) Now() time.Duration { return h.booted + time.Since(h.began) }

func (h *host) Store(key string, value []byte) { check(h.disk.store(key, value)) }

func (h *host) Sync() { check(h.disk.sync()) }

func (h *host) SetTimer(t election.Timer, d time.Duration) { h.timers[t] = deadline{true, h.Now() + d} }

func (h *host) StopTimer(t election.Timer) { h.timers[t].set = false }

func (h *host) Send(to election.ID, m election.Message) {
	var err error
	if h.buf, err = appendMessage(h.buf[:0], &m); err == nil {
		_, err = h.Socket.WriteToUDPAddrPort(h.buf, h.Members[to-1])
	}
	if err != nil { // datagrams get lost; this is one way
		h.unsent.count(h.Log, "datagrams not sent, the last to %v: %v", to, err)
	}
}

func (h *host) Granted(term uint64, candidate election.ID) {
	h.journal.add(Announcement{Vote: &history.Vote{Term: term, For: candidate.String()}})
	h.Log.Printf("voted for %v in term %d", candidate, term)
}

// Applied tells the harness alone: updates are too many for the log.
func (h *host) Applied(term, counter uint64, from election.ID) {
	h.journal.add(Announcement{Update: &history.Update{Term: term, Counter: counter, From: from.String()}})
}

// diskError is what the host panics with when its disk fails under the algorithm, which has no way to go on.
type diskError struct{ error }

func check(err error) {
	if err != nil {
		panic(diskError{err})
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

// counter counts what should not happen, and tells of it less and less often.
type counter struct{ n uint64 }

func (c *counter) count(l *log.Logger, format string, args ...any) {
	if c.n++; bits.OnesCount64(c.n) == 1 {
		l.Printf("%d "+format, append([]any{c.n}, args...)...)
	}
}
