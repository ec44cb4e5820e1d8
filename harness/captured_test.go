package harness

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/docker"
	"recount/election"
	"recount/harness/record"
)

func (spelled) Ports() []int { return []int{7000} }

// tapped is a connection from n1 to n2, whose packets are seen as the test says. Numbers are of the first direction, which begins just
// before they begin anew.
type tapped struct {
	*captured
	now   time.Duration
	stamp uint32
}

const begins = 1<<32 - 5

func newTapped() *tapped { return &tapped{captured: newCaptured(spelled{}), now: time.Second} }

// segment is one from caller to called, or back, with its data from a byte on: 1 is the first.
func (w *tapped) segment(from netip.AddrPort, at int64, data string) docker.Captured {
	c := docker.Captured{From: "n1", To: "n2", At: w.now, Left: true, Segment: docker.Segment{
		Source: caller, Destination: called, ACK: true, Seq: uint32(begins + at), Stamp: w.stamp, Size: len(data), Data: []byte(data),
	}}
	if from == called {
		c.From, c.To, c.Source, c.Destination = c.To, c.From, c.Destination, c.Source
	}
	return c
}

// open begins the connection. What was sent first may be seen later.
func (w *tapped) open() *tapped {
	for _, from := range []netip.AddrPort{called, caller} {
		c := w.segment(from, 0, "")
		c.SYN, c.ACK = true, from == called
		if c.ACK {
			c.Ack = begins + 1
		}
		w.see(c)
		w.see(arriving(c, w.now))
	}
	w.look()
	return w
}

// arriving is a packet as it arrives: without what is in it.
func arriving(c docker.Captured, at time.Duration) docker.Captured {
	c.Left, c.At, c.Data = false, at, nil
	return c
}

// look returns the messages whose fates are known now.
func (w *tapped) look() []record.Message { return w.take(w.now + 2*orderAfter) }

// later returns those whose fates are known after a time without any packet.
func (w *tapped) later(d time.Duration) []record.Message { return w.take(w.now + d) }

// toldOf is what was said, and what became of it.
func toldOf(all []record.Message) (told []string) {
	for _, m := range all {
		s := strings.TrimSuffix(m.Words, " to port 7000")
		if m.Lost != "" {
			s += " LOST"
		}
		told = append(told, s)
	}
	return told
}

func TestCapturedPacketsBecomeMessages(t *testing.T) {
	w := newTapped()
	c := w.segment(caller, 0, "")
	c.SYN, c.ACK = true, false
	w.see(c)
	require.Empty(t, w.look(), "nobody knows what becomes of it")
	w.see(arriving(c, w.now+time.Millisecond))
	require.Equal(t, []record.Message{{
		From: "n1", To: "n2", Sent: w.now, Arrived: w.now + time.Millisecond, Kind: "open", Words: "asks for a connection to port 7000", Port: 7000,
	}}, w.later(time.Second))
	require.Empty(t, w.later(time.Second))

	w = newTapped().open()
	first, second := w.segment(caller, 1, "vote.be"), w.segment(caller, 8, "at.")
	w.see(first)
	w.see(second)
	both := w.segment(caller, 1, "vote.beat.")
	w.see(arriving(both, w.now+time.Millisecond)) // put together on the way
	require.Equal(t, []string{"vote term 4, in 7 bytes", "beat term 4, in 3 bytes"}, toldOf(w.later(time.Second)))
	w.see(w.segment(caller, 11, "a.bc.d"))
	for _, part := range []docker.Captured{w.segment(caller, 14, "c.d"), w.segment(caller, 11, "a."), w.segment(caller, 14, "c.d")} {
		w.see(arriving(part, w.now)) // cut up on the way, in disorder, and one twice
	}
	require.Empty(t, w.look(), "the middle is still under way")
	w.see(arriving(w.segment(caller, 13, "b"), w.now+time.Second))
	got := w.later(2 * time.Second)
	require.Equal(t, []string{"a term 1, in 6 bytes", "bc term 2, in 6 bytes"}, toldOf(got))
	require.Equal(t, w.now+time.Second, got[0].Arrived, "when all of it has")

	w.see(w.segment(called, 1, "yes."))
	require.Equal(t, []string{"yes term 3, in 4 bytes from port 7000; whether it arrived is not known"}, toldOf(w.take(theEnd)), "it was under way when the run ended")
}

func TestAPacketThatIsSentAgainIsToldFromTheFirst(t *testing.T) {
	w := newTapped().open()
	w.see(w.segment(caller, 1, "vote."))
	w.now, w.stamp = w.now+200*time.Millisecond, 200
	again := w.segment(caller, 1, "vote.")
	w.see(again)
	w.see(arriving(again, w.now+time.Millisecond))
	got := w.later(time.Second)
	require.Equal(t, []string{"vote term 4, in 5 bytes, sent again,"}, toldOf(got))
	require.True(t, got[0].Again)
	require.Empty(t, w.later(lostAfter-201*time.Millisecond), "the first may yet arrive")
	got = w.later(lostAfter)
	require.Equal(t, []string{"vote term 4, in 5 bytes LOST"}, toldOf(got))
	require.Equal(t, "it was seen to leave, and not to arrive", got[0].Lost)
}

func TestWhatIsLostAtOneInstantIsToldInOrder(t *testing.T) {
	w := newTapped()
	var want []string
	for i := range 20 {
		from := netip.AddrPortFrom(caller.Addr(), caller.Port()+uint16(i))
		syn := w.segment(from, 0, "")
		syn.SYN, syn.ACK, syn.Source = true, false, from
		w.see(syn)
		w.see(arriving(syn, w.now))
		word := fmt.Sprintf("m%d", i)
		said := w.segment(from, 1, word+".")
		said.Source = from
		w.see(said)
		want = append(want, fmt.Sprintf("%s term %d, in %d bytes LOST", word, len(word), len(word)+1))
	}
	w.look()
	require.Equal(t, want, toldOf(w.later(2*lostAfter)))
}

func TestWhatWasNotCopiedIsSaid(t *testing.T) {
	w := newTapped().open()
	w.see(w.segment(caller, 1, "vote."))
	c := arriving(w.segment(caller, 100, "x"), w.now+time.Second)
	c.Missed = 3
	w.see(c)
	why := w.unread()
	require.Equal(t, "3 packets of the two nodes were not copied", why("n1", "n2"))
	require.Equal(t, why("n1", "n2"), why("n3", "n2"), "they may have been anybody's")
	require.Empty(t, why("n1", "n3"))
	require.Empty(t, w.unread()("n1", "n2"), "it is said once")
	w.now += lostAfter
	got := w.later(lostAfter)
	require.Equal(t, []string{"vote term 4, in 5 bytes to port 7000; whether it arrived is not known"}, toldOf(got))

	w.see(w.segment(caller, 8, "at."))
	require.Empty(t, w.look())
	require.Equal(t, "what came before was not copied", w.unread()("n1", "n2"))
	w.see(w.segment(caller, 6, "be")) // sent again
	require.Empty(t, w.look())
	require.Empty(t, w.unread()("n1", "n2"))
	require.Equal(t, []string{"3 bytes LOST", "beat term 4, in 2 bytes LOST"}, toldOf(w.later(2*lostAfter)))

	w = newTapped() // which was open before
	w.see(w.segment(caller, 1, "vote."))
	require.Empty(t, w.look())
	require.Equal(t, "its beginning was not seen", w.unread()("n1", "n2"))
	require.Equal(t, []string{"5 bytes LOST"}, toldOf(w.later(2*lostAfter)))

	w = newTapped().open()
	w.see(w.segment(caller, 1, "\x16\x03\x01 hello."))
	require.Empty(t, w.look())
	require.Equal(t, "encrypted", w.unread()("n1", "n2"))

	w = newTapped().open()
	w.stop("packets cannot be copied here")
	w.see(w.segment(caller, 1, "vote."))
	require.Empty(t, w.take(theEnd))
	require.Equal(t, "packets cannot be copied here", w.unread()("n2", "n1"))
}

func TestHolesThatNobodyFillsEndReading(t *testing.T) {
	w := newTapped().open()
	at := int64(2)
	for at < mostHeld+2000 {
		w.see(w.segment(caller, at, strings.Repeat("x", 1000)))
		at += 1000
	}
	w.see(w.segment(caller, 1, "a.b."))
	require.Empty(t, w.look())
	require.Equal(t, "packets of it were not copied", w.unread()("n1", "n2"))
	for _, m := range w.take(theEnd) {
		require.Empty(t, m.Kind)
	}
}

// However a stream is cut up, sent again and disordered, the same messages are read, each once but for what is sent again.
func TestReadingDoesNotDependOnHowAStreamIsCutUp(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var text strings.Builder
		var want []election.Said
		for i := range 30 {
			word := fmt.Sprintf("m%d%s", i, strings.Repeat("y", random.IntN(6)))
			text.WriteString(word + ".")
			want = append(want, election.Said{Kind: word, Term: uint64(len(word))})
		}
		var pieces []piece
		for at := 0; at < text.Len(); {
			n := min(1+random.IntN(20), text.Len()-at)
			pieces = append(pieces, piece{int64(1 + at), []byte(text.String()[at : at+n])})
			if at -= random.IntN(8); at < 0 { // pieces overlap
				at = 0
			}
			at += n
		}
		random.Shuffle(len(pieces), func(i, j int) { pieces[i], pieces[j] = pieces[j], pieces[i] })
		d := &direction{next: 1}
		d.read, _ = spelled{}.Decode(7000)
		var got []election.Said
		read := d.read
		d.read = func(b []byte) []election.Said {
			said := read(b)
			got = append(got, said...)
			return said
		}
		told := map[election.Said]bool{}
		for _, p := range pieces {
			all, _ := d.said(p.from, p.data)
			for _, one := range all {
				told[one] = true
			}
		}
		require.Equal(t, want, got)
		require.Len(t, told, len(want), "and each is told of a packet")
		require.Empty(t, d.held)
	}
}
