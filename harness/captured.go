package harness

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"recount/docker"
	"recount/election"
	"recount/harness/record"
	"recount/virtual"
	"recount/virtual/tcp"
)

// captured turns what nodes in containers were seen to say to each other into messages. Each packet was seen twice, as it left and as it
// arrived, or it was lost: why, nobody has seen.
type captured struct {
	mu      sync.Mutex        // guards these: packets come on a goroutine of their own
	failed  string            // why nothing is seen; "" if something is
	waiting []docker.Captured // to be put in order: each node's come for themselves
	bytes   int               // in them
	missed  map[string]missed // by node

	packets *packets
	known   []record.Message // whose fates are known
	flows   map[flow]*counted
	room    int           // for so many flows, before those are looked for that can be forgotten
	away    int           // packets that have left, of all flows
	now     time.Duration // when the last packet was seen
}

// counted is a flow with the numbers that its sender gives to bytes.
type counted struct {
	link [2]string
	*direction
	first  uint32        // the number of what begins the flow
	answer uint32        // the number that it answers with that; 0 for one that asks
	last   int64         // counted from first, the number of what was seen last
	at     time.Duration // when that was
	away   []*away       // in the order in which they left
}

// away is a packet that has left.
type away struct {
	seen     docker.Captured
	messages []record.Message
	missing  []span // what has not arrived of it
}

// span are numbers of a packet's, counted from its first.
type span struct{ from, to int64 }

// missed are packets that were not seen at a node.
type missed struct {
	count int // since somebody asked
	at    time.Duration
}

const (
	orderAfter  = 100 * time.Millisecond       // packets that are seen later are out of order, and some are read as if they were not
	mostBytes   = 32 << 20                     // of packets that wait for it
	lostAfter   = 5 * time.Second              // a packet that has not arrived by then is lost
	mostAway    = 1 << 16                      // packets whose fates are waited for
	fewFlows    = 1 << 12                      // of more, the silent ones are forgotten
	forgetAfter = time.Minute                  // of silence
	mostRead    = 9 * record.MostMessages / 10 // messages that are kept: there must be room for what is only counted
)

func newCaptured(decoder election.Decoder) *captured {
	return &captured{
		packets: &packets{decoder: decoder, flows: map[flow]*direction{}}, flows: map[flow]*counted{}, room: fewFlows, missed: map[string]missed{},
	}
}

// see takes note of a packet.
func (k *captured) see(c docker.Captured) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failed != "" {
		return
	}
	if k.bytes += len(c.Data); k.bytes > mostBytes || len(k.waiting) == mostAway {
		k.bytes -= len(c.Data)
		c.Missed++
	} else {
		k.waiting = append(k.waiting, c)
	}
	if c.Missed > 0 {
		where := c.To
		if c.Left {
			where = c.From
		}
		k.missed[where] = missed{k.missed[where].count + c.Missed, c.At}
	}
}

// order takes note of those packets that were seen long enough ago: first those that leave, and of those that arrive such as all that
// had left before them were taken note of.
func (k *captured) order(now time.Duration) {
	k.mu.Lock()
	var left, came, still []docker.Captured
	k.bytes = 0
	for _, c := range k.waiting {
		switch {
		case c.Left && c.At <= now-orderAfter:
			left = append(left, c)
		case !c.Left && c.At <= now-2*orderAfter:
			came = append(came, c)
		default:
			still = append(still, c)
			k.bytes += len(c.Data)
		}
	}
	k.waiting = still
	k.mu.Unlock()
	for _, all := range [][]docker.Captured{left, came} {
		slices.SortStableFunc(all, func(a, b docker.Captured) int { return cmp.Compare(a.At, b.At) })
	}
	for _, c := range left {
		k.now = max(k.now, c.At)
		k.leaves(c)
	}
	for _, c := range came {
		k.arrives(c)
	}
}

// length is how many numbers a packet takes. To be recognised one that resets a connection takes one, too.
func length(c *docker.Captured) int64 {
	n := int64(c.Size)
	for _, one := range []bool{c.SYN, c.FIN, c.RST} {
		if one {
			n++
		}
	}
	return n
}

func (k *captured) leaves(c docker.Captured) {
	f := k.flow(&c)
	f.last += int64(int32(c.Seq - f.first - uint32(f.last))) // numbers begin anew after four billion
	if c.Size > len(c.Data) {
		f.ignore("packets of it were not copied whole")
	}
	f.at = c.At
	all := f.messages(virtual.Packet{From: c.From, To: c.To, Sent: c.At, Segment: tcp.Segment{
		From: c.Source, To: c.Destination, SYN: c.SYN, ACK: c.ACK || !c.SYN, FIN: c.FIN, RST: c.RST, Seq: f.last, Data: c.Data,
	}})
	if len(all) == 0 {
		return
	}
	c.Data = nil // what it says is known
	a := &away{seen: c, messages: all, missing: []span{{0, length(&c)}}}
	if k.away == mostAway {
		k.lose(a, true)
		return
	}
	k.away++
	f.away = append(f.away, a)
}

// flow returns what is known of the flow that a packet belongs to. What the two ends say at the same time may come in any order.
func (k *captured) flow(c *docker.Captured) *counted {
	there, back := flow{c.Source, c.Destination}, flow{c.Destination, c.Source}
	f, other := k.flows[there], k.flows[back]
	switch {
	case c.SYN && (f == nil || f.first != c.Seq):
		if other == nil || c.ACK && other.first+1 != c.Ack || !c.ACK && other.answer != c.Seq+1 { // another connection
			k.forget()
			k.give(there)
			k.give(back)
			other = nil
		}
		f = &counted{link: [2]string{c.From, c.To}, first: c.Seq, direction: k.packets.direction(c.Source, c.Destination, !c.ACK && other == nil)}
		if c.ACK {
			f.answer = c.Ack
		}
	case f == nil:
		f = &counted{link: [2]string{c.From, c.To}, first: c.Seq - 1, direction: k.packets.direction(c.Source, c.Destination, false)}
		f.ignore("its beginning was not seen")
	}
	k.flows[there] = f
	return f
}

// forget makes room for one more connection.
func (k *captured) forget() {
	if len(k.flows) < k.room {
		return
	}
	for _, there := range k.inOrder() {
		f := k.flows[there]
		if f == nil {
			continue // given up with the other direction
		}
		back := flow{there.to, there.from}
		at := f.at
		if b := k.flows[back]; b != nil {
			at = max(at, b.at)
		}
		if k.now-at > forgetAfter {
			k.give(there)
			k.give(back)
		}
	}
	k.room = max(fewFlows, 2*len(k.flows)) // where all are in use, it is not each new one that walks them all
}

// inOrder are all flows, in an order that does not change: what is told of one instant is told in it.
func (k *captured) inOrder() []flow {
	return slices.SortedFunc(maps.Keys(k.flows), func(a, b flow) int { return cmp.Or(a.from.Compare(b.from), a.to.Compare(b.to)) })
}

// give gives up a flow.
func (k *captured) give(key flow) {
	if f := k.flows[key]; f != nil {
		for _, a := range f.away {
			k.away--
			k.lose(a, k.blind(a))
		}
	}
	delete(k.flows, key)
	delete(k.packets.flows, key)
}

// arrives finds the packets that one consists of which has arrived: what lies between the nodes may cut them up or put them together.
func (k *captured) arrives(c docker.Captured) {
	f := k.flows[flow{c.Source, c.Destination}]
	if f == nil {
		return
	}
	kept := f.away[:0]
	for _, a := range f.away {
		begin := int64(int32(c.Seq - a.seen.Seq))
		if came := (span{begin, begin + length(&c)}); c.Stamp == a.seen.Stamp && c.RST == a.seen.RST {
			a.missing = without(a.missing, came)
		}
		if len(a.missing) > 0 {
			kept = append(kept, a)
			continue
		}
		k.away--
		for _, m := range a.messages {
			m.Sent = min(m.Sent, c.At) // it was seen a moment after that
			m.Arrived = c.At
			k.known = append(k.known, m)
		}
	}
	clear(f.away[len(kept):])
	f.away = kept
}

// without are the spans but for what is in one more.
func without(all []span, one span) (rest []span) {
	for _, s := range all {
		for _, part := range []span{{s.from, min(s.to, one.from)}, {max(s.from, one.to), s.to}} {
			if part.from < part.to {
				rest = append(rest, part)
			}
		}
	}
	return rest
}

// blind reports whether a packet may have arrived without having been seen.
func (k *captured) blind(a *away) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	m, some := k.missed[a.seen.To]
	return some && m.at >= a.seen.At
}

// lose tells of a packet that was not seen to arrive; with unsure nobody would have seen it.
func (k *captured) lose(a *away, unsure bool) {
	for _, m := range a.messages {
		m.Arrived = m.Sent
		if unsure {
			m.Words += "; whether it arrived is not known"
		} else {
			m.Lost = "it was seen to leave, and not to arrive"
		}
		k.known = append(k.known, m)
	}
}

// take returns the messages whose fates are known at that time, and were not a moment ago.
func (k *captured) take(now time.Duration) []record.Message {
	k.order(now)
	for _, there := range k.inOrder() {
		f, late := k.flows[there], 0
		for late < len(f.away) && now-f.away[late].seen.At >= lostAfter {
			a := f.away[late]
			k.lose(a, k.blind(a) || now == theEnd && k.now-a.seen.At < orderAfter)
			late++
		}
		k.away -= late
		f.away = slices.Delete(f.away, 0, late)
	}
	all := k.known
	k.known = nil
	slices.SortStableFunc(all, func(a, b record.Message) int { return cmp.Compare(a.Arrived, b.Arrived) })
	return all
}

// theEnd is when a run has ended, and nothing more will be seen.
const theEnd time.Duration = 1<<63 - 1

// stop gives up, for that reason.
func (k *captured) stop(why string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.failed = why
}

// unread says, for each link, why messages are missing of what was said on it since the last call; nothing of those of which none are.
func (k *captured) unread() func(from, to string) string {
	why := map[[2]string]string{}
	for _, there := range k.inOrder() {
		if f := k.flows[there]; f.fresh && (f.why != "" || f.behind()) {
			why[f.link] = f.why
			if f.why == "" {
				why[f.link] = "what came before was not copied"
			}
		}
		k.flows[there].fresh = false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	failed, counts := k.failed, map[string]int{}
	for node, m := range k.missed {
		counts[node] = m.count
		k.missed[node] = missed{at: m.at}
	}
	return func(from, to string) string {
		switch n := counts[from] + counts[to]; {
		case failed != "":
			return failed
		case n > 0:
			return fmt.Sprintf("%d packets of the two nodes were not copied", n)
		}
		return why[[2]string{from, to}]
	}
}

// capture begins to see what nodes in containers say to each other, where the target's folder can read that; else it returns nil.
// Where it cannot be seen a run does without.
func (r *run) capture(ctx context.Context, c *containers) *captured {
	decoder, can := c.system.(election.Decoder)
	if !can {
		return nil
	}
	k := newCaptured(decoder)
	if err := c.Capture(ctx, decoder.Ports(), k.see); err != nil {
		k.stop(fmt.Sprintf("packets cannot be copied here: %v", err))
		return k
	}
	kept := 0
	keep := func(all []record.Message) {
		for i := range all {
			if kept++; kept == mostRead {
				k.stop("there were too many messages to keep them all")
			}
			if kept < mostRead {
				r.messages(&all[i])
			}
		}
	}
	var again func()
	again = func() {
		keep(k.take(c.Now()))
		c.After(orderAfter, again)
	}
	c.After(0, again)
	r.lastMessages = func() { keep(k.take(theEnd)) }
	return k
}
