//go:build linux

package agent

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
	"recount/internal/headers"
)

// packets are what nodes send each other in tests of traps.
type packets struct {
	*traps
	t      *testing.T
	passed []string
	told   chan Sprung
	ended  chan string
}

func newPackets(t *testing.T, laid ...history.Trap) *packets {
	p := &packets{traps: newTraps(), t: t, told: make(chan Sprung, 9), ended: make(chan string, 9)}
	p.tells(func(s Sprung) { p.told <- s })
	p.end = func(node string) {
		p.falls(node, false)
		p.ended <- node
	}
	for _, node := range []string{"n1", "n2", "n3"} {
		p.begins(node, runs)
	}
	for _, s := range laid {
		p.set(s)
	}
	return p
}

// comes has a packet of TCP come, from a port, of so many bytes of data, and takes note of it once it goes on.
func (p *packets) comes(from, to, name string, port byte, data int) fate {
	h := headers.IP{
		From: netip.AddrFrom4([4]byte{10, 0, 0, from[1]}), To: netip.AddrFrom4([4]byte{10, 0, 0, to[1]}), Protocol: headers.TCP, Size: 32 + data,
		Carried: []byte{100, port, 9, 76, 0, 0, 0, 0, 0, 0, 0, 0, 8 << 4, headers.ACK},
	}
	return p.catch(from, to, h, func() { p.passed = append(p.passed, name) })
}

func runs() bool { return true }

func finish(node string, on history.TrapOn, effect int, crash bool) history.Trap {
	return history.Trap{Node: node, ID: 7, TrapState: history.TrapState{Do: history.Finish, On: on, Most: 1, Effect: effect, Crash: crash}}
}

// A packet that is held has all wait behind it that comes over its connection, and no other.
func TestWhatComesBehindAHeldPacketWaitsInOrder(t *testing.T) {
	hold := history.Trap{Node: "n1", ID: 3, TrapState: history.TrapState{Do: history.Hold, To: "n2", Pass: 1, Most: 1, Until: history.UntilTerm}}
	p := newPackets(t, hold)
	require.Equal(t, goesOn, p.comes("n1", "n2", "first", 1, 10))
	require.Equal(t, goesOn, p.comes("n1", "n2", "no data", 1, 0))
	require.Equal(t, goesOn, p.comes("n1", "n3", "to another", 1, 10))
	require.Equal(t, goesOn, p.comes("n2", "n1", "of another", 1, 10))
	require.Equal(t, heldBack, p.comes("n1", "n2", "second", 1, 10))
	require.Equal(t, Sprung{ID: 3, Node: "n1", To: "n2", What: "connection of port 2380 n1→n2 held"}, <-p.told)
	require.Equal(t, heldBack, p.comes("n1", "n2", "an answer", 1, 0))
	require.Equal(t, goesOn, p.comes("n1", "n2", "another connection", 2, 10), "it springs once")
	p.release(LetGo{ID: 3, Node: "n1", To: "n3"})
	p.release(LetGo{ID: 4, Node: "n1"})
	require.Empty(t, p.passed)
	p.release(LetGo{ID: 3, Node: "n1", To: "n2"})
	require.Equal(t, []string{"second", "an answer"}, p.passed)
	require.Equal(t, goesOn, p.comes("n1", "n2", "later", 1, 10))
}

// A trap that is taken away, and one that waits for a start, lets go of what it holds.
func TestHeldPacketsGoOn(t *testing.T) {
	hold := history.Trap{Node: "n1", ID: 3, TrapState: history.TrapState{Do: history.Hold, Most: 1, Until: history.UntilStart}}
	p := newPackets(t, hold)
	require.Equal(t, heldBack, p.comes("n1", "n2", "one", 1, 10))
	p.begins("n3", runs)
	require.Empty(t, p.passed)
	p.begins("n2", runs)
	require.Equal(t, []string{"one"}, p.passed)
	p.set(hold)
	require.Equal(t, heldBack, p.comes("n1", "n2", "two", 1, 10))
	p.set(hold.Healthy().(history.Trap))
	require.Equal(t, []string{"one", "two"}, p.passed)
	require.Equal(t, goesOn, p.comes("n1", "n2", "three", 1, 10))
	require.Empty(t, p.states())
}

// A node ends before the first thing that it does beyond what it may: of a machine that dies, nothing comes from there on.
func TestANodeEndsInTheMiddleOfWhatItDoes(t *testing.T) {
	p := newPackets(t, finish("n2", history.Receives, 2, true))
	require.Equal(t, goesOn, p.comes("n2", "n1", "before", 1, 10))
	require.Equal(t, goesOn, p.comes("n1", "n2", "what it waits for", 1, 10))
	require.Equal(t, goesOn, p.comes("n2", "n1", "one", 1, 10))
	require.Equal(t, goesOn, p.comes("n2", "n1", "no data", 1, 0))
	require.True(t, p.writes("n2"), "two")
	require.Empty(t, p.ended)
	require.Equal(t, lost, p.comes("n2", "n3", "three", 1, 10))
	require.Equal(t, Sprung{ID: 7, Node: "n2", State: history.Crashed, What: "n2 ends after 2 of what it did on receive"}, <-p.told)
	require.Equal(t, "n2", <-p.ended)
	require.False(t, p.writes("n2"))
	require.True(t, p.writes("n1"))
	require.Equal(t, lost, p.comes("n2", "n1", "no data", 1, 0))
	require.Equal(t, goesOn, p.comes("n1", "n2", "to it", 1, 10))
	p.set(finish("n2", history.Receives, 2, true))
	require.False(t, p.writes("n2"), "it is not gone yet")
	p.bury("n2")
	require.True(t, p.writes("n2"), "its next life")
	require.Equal(t, lost, p.comes("n2", "n1", "its kernel sends it once more", 1, 10))
	require.Equal(t, goesOn, p.comes("n2", "n1", "its next life", 2, 10))
	require.Equal(t, map[string]bool{"n2": true}, p.ending())
	require.Empty(t, p.ended)
}

// What arrives at a node that has ended, or comes from one, is for no trap to wait for: it would end the node's next life, or tell of the
// end of one that had ended by itself.
func TestTrapsWaitForNodesThatRun(t *testing.T) {
	p := newPackets(t, finish("n2", history.Receives, 0, true))
	_, falls := p.falls("n2", true)
	require.False(t, falls)
	require.Equal(t, goesOn, p.comes("n1", "n2", "to one that was killed", 1, 10))
	p.begins("n2", func() bool { return false })
	require.Equal(t, goesOn, p.comes("n1", "n2", "to one that has ended", 1, 10))
	require.Empty(t, p.ended)
	p.begins("n2", runs)
	require.Equal(t, goesOn, p.comes("n1", "n2", "what it waits for", 1, 10))
	require.Equal(t, "n2", <-p.ended)
	require.Len(t, p.told, 1)
}

// One that is killed at the moment at which a trap springs has ended by the trap, and is told of once, before anybody learns that it ended.
func TestANodeThatIsKilledAsItsTrapSprings(t *testing.T) {
	p := newPackets(t, finish("n2", history.Receives, 0, true))
	p.end = func(string) {}
	p.comes("n1", "n2", "what it waits for", 1, 10)
	by, falls := p.falls("n2", true)
	require.True(t, falls)
	require.Equal(t, finish("n2", history.Receives, 0, true), by)
	require.Equal(t, history.Crashed, (<-p.told).State)
	_, falls = p.falls("n2", false)
	require.False(t, falls)
	p.begins("n2", runs)
	p.bury("n2") // late
	require.Equal(t, goesOn, p.comes("n2", "n1", "its next life", 2, 10))
	require.Empty(t, p.told)
}

// A connection of a machine that died is broken for good: its kernel may say so, and the ports may come to be another's.
func TestBrokenConnections(t *testing.T) {
	p := newPackets(t, finish("n1", history.Sends, 0, true))
	flagged := func(flag byte) fate {
		h := headers.IP{
			From: netip.AddrFrom4([4]byte{10, 0, 0, 1}), To: netip.AddrFrom4([4]byte{10, 0, 0, 2}), Protocol: headers.TCP, Size: 32,
			Carried: []byte{100, 1, 9, 76, 0, 0, 0, 0, 0, 0, 0, 0, 8 << 4, flag},
		}
		return p.catch("n1", "n2", h, func() {})
	}
	require.Equal(t, goesOn, p.comes("n1", "n2", "sent", 1, 10))
	<-p.ended
	require.Equal(t, lost, flagged(headers.RST))
	p.bury("n1")
	require.Equal(t, lost, flagged(headers.FIN|headers.ACK))
	require.Equal(t, goesOn, flagged(headers.RST))
	require.Equal(t, goesOn, flagged(headers.SYN))
	require.Equal(t, goesOn, flagged(headers.ACK))
}

// A process that is killed may get out what it did meanwhile; one that sends may be done for by having sent.
func TestAProcessEndsOnceItHasSent(t *testing.T) {
	p := newPackets(t, finish("n1", history.Sends, 0, false))
	require.Equal(t, goesOn, p.comes("n2", "n1", "of another", 1, 10))
	require.Empty(t, p.ended)
	require.Equal(t, goesOn, p.comes("n1", "n2", "sent", 1, 10))
	require.Equal(t, history.Down, (<-p.told).State)
	require.Equal(t, "n1", <-p.ended)
	require.True(t, p.writes("n1"))
	require.Equal(t, goesOn, p.comes("n1", "n2", "before it was killed", 1, 10))
}

// A fault that heals before its trap has ended the node takes the threat away.
func TestAThreatThatIsTakenAway(t *testing.T) {
	trap := finish("n2", history.Receives, 5, true)
	p := newPackets(t, trap)
	require.Equal(t, map[string]bool{"n2": true}, p.ending())
	p.comes("n1", "n2", "what it waits for", 1, 10)
	p.set(trap.Healthy().(history.Trap))
	for range 9 {
		require.Equal(t, goesOn, p.comes("n2", "n1", "more", 1, 10))
	}
	require.Empty(t, p.ended)
	require.Empty(t, p.ending())
}

// What is let go does not arrive over a link that is cut by then.
func TestAHeldPacketDoesNotCrossACut(t *testing.T) {
	verdicts := map[uint32]bool{}
	p := newPacer(nil, func(id uint32, pass bool) { verdicts[id] = pass })
	head := make([]byte, 28)
	copy(head, []byte{0x45, 0, 0, 28, 0, 0, 0, 0, 64, headers.UDP, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0, 7, 0, 9})
	n1 := netip.AddrFrom4([4]byte{10, 0, 0, 1})
	for i, s := range []states{{}, {{addr: n1}: {Cut: true}}, {{n1, 9}: {Loss: 1}}, {{n1, 8}: {Cut: true}}, {{addr: n1}: {Picked: true}}} {
		p.close(s)
		p.resume(uint32(i), head, 28, time.Now())
	}
	require.Equal(t, map[uint32]bool{0: true, 1: false, 2: false, 3: true, 4: true}, verdicts)
}

// A datagram waits alone, and probes are no messages.
func TestDatagramsThatWait(t *testing.T) {
	hold := history.Trap{Node: "n1", ID: 3, TrapState: history.TrapState{Do: history.Hold, Most: 1, Until: "1ms"}}
	p := newPackets(t, hold)
	datagram := func(port uint16, size int) fate {
		h := headers.IP{From: netip.AddrFrom4([4]byte{10, 0, 0, 1}), Protocol: headers.UDP, Size: size, Carried: []byte{1, 1, byte(port >> 8), byte(port), 0, 0, 0, 0}}
		return p.catch("n1", "n2", h, func() { p.told <- Sprung{What: "passed"} })
	}
	require.Equal(t, goesOn, datagram(firstProbePort, 40))
	require.Equal(t, goesOn, datagram(7946, udpHead), "it carries nothing")
	require.Equal(t, heldBack, datagram(7946, 40))
	require.Equal(t, goesOn, datagram(7946, 40))
	got := []string{(<-p.told).What, (<-p.told).What}
	require.ElementsMatch(t, []string{"datagram n1→n2 held", "passed"}, got)
}
