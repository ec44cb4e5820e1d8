package history

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"recount/internal/hint"
)

// Link is the state of the packets that travel from one node to another. The other direction is another link. The
// packets of one port are a link of their own besides: they suffer what that link does to them and what the whole does.
type Link struct {
	From string `json:"from"`
	To   string `json:"to"`
	Port int    `json:"port,omitempty"` // only packets from or to this TCP or UDP port; 0 for all
	LinkState
}

// LinkState is how a link mistreats packets. The zero value delivers them.
type LinkState struct {
	Cut       bool          `json:"cut,omitempty"`       // nothing arrives
	Loss      float64       `json:"loss,omitempty"`      // chance that a packet is lost, 0 to 1
	Delay     time.Duration `json:"delay,omitempty"`     // added to each packet
	Jitter    time.Duration `json:"jitter,omitempty"`    // delay varies by up to this much either way, and is never below 0
	Duplicate float64       `json:"duplicate,omitempty"` // chance that a packet arrives twice, 0 to 1
	Reorder   float64       `json:"reorder,omitempty"`   // chance that a packet overtakes the delay, 0 to 1
	Rate      int64         `json:"rate,omitempty"`      // bits per second that pass, what exceeds them waits; 0 for no limit
	Reset     bool          `json:"reset,omitempty"`     // TCP gets resets for answers, and what is in flight is lost
	Picked    bool          `json:"picked,omitempty"`    // single messages are lost, late or repeated: see Trap
}

// fits says why a link is none, or nil: taken for another, it would excuse what nobody was kept from.
func (l Link) fits() error {
	switch {
	case l.From == "" || l.To == "":
		return hint.Add(fmt.Errorf("%s lacks an end", l.Name()), `a link goes "from" one node "to" another`)
	case l.From == l.To:
		return hint.Add(fmt.Errorf("%s goes to where it comes from", l.Name()), "a link is between two nodes; what befalls one alone is in procs, clocks or disks")
	case l.Port < 0 || l.Port > 65535:
		return hint.Add(fmt.Errorf("link %s→%s: no port %d", l.From, l.To, l.Port), "ports are from 1 to 65535; leave it out for all")
	}
	return cmp.Or(
		chance(l.Name(), "loss", l.Loss), chance(l.Name(), "duplicate", l.Duplicate), chance(l.Name(), "reorder", l.Reorder),
		amount(l.Name(), "delay", int64(l.Delay)), amount(l.Name(), "jitter", int64(l.Jitter)), amount(l.Name(), "rate", l.Rate),
	)
}

// chance says why a thing has no such chance, or nil.
func chance(of, what string, p float64) error {
	if p < 0 || p > 1 {
		return hint.Add(fmt.Errorf("%s: a %s of %v", of, what, p), "a chance is from 0 to 1")
	}
	return nil
}

// amount says why a thing has no such amount of something, or nil.
func amount(of, what string, n int64) error {
	if n < 0 {
		return hint.Add(fmt.Errorf("%s: a %s of %d", of, what, n), "leave out what is not limited, or write 0")
	}
	return nil
}

// Buffer is how long a packet may wait for a link of limited rate. One that would have to wait longer is lost.
const Buffer = time.Second

// And is the state of a link that is mistreated in two ways at once: what becomes of a packet that suffers both.
func (s LinkState) And(t LinkState) LinkState {
	rate := min(s.Rate, t.Rate)
	if rate == 0 {
		rate = max(s.Rate, t.Rate)
	}
	return LinkState{
		Cut:       s.Cut || t.Cut,
		Loss:      either(s.Loss, t.Loss),
		Delay:     s.Delay + t.Delay,
		Jitter:    s.Jitter + t.Jitter,
		Duplicate: either(s.Duplicate, t.Duplicate),
		Reorder:   either(s.Reorder, t.Reorder),
		Rate:      rate,
		Reset:     s.Reset || t.Reset,
		Picked:    s.Picked || t.Picked,
	}
}

// either is the chance of one of two things or both.
func either(p, q float64) float64 {
	if p == 0 || q == 0 {
		return p + q // exactly
	}
	return 1 - float64((1-p)*(1-q)) // rounded before it is taken off, on every processor
}

// Late draws by how long such a link holds a packet up, beyond what it takes on a healthy one and its wait for a limited rate:
// never below 0, so that no packet is faster than on a healthy link.
func (s LinkState) Late(r *rand.Rand) time.Duration {
	if s.Reorder > 0 && r.Float64() < s.Reorder {
		return 0
	}
	if s.Jitter == 0 {
		return s.Delay
	}
	return max(s.Delay+time.Duration(r.Int64N(2*int64(s.Jitter)+1))-s.Jitter, 0)
}

// Keeps is for how long such a link may hold a packet up, at most, beyond what it takes on a healthy one: for so long after it is
// healed, it may still deliver what was sent before.
func (s LinkState) Keeps() time.Duration {
	late := Sum(s.Delay, s.Jitter)
	if s.Rate > 0 {
		late = Sum(late, Buffer)
	}
	return late
}

// Sum is of two durations of which neither is below 0: the longest that there is, where it would be longer.
func Sum(a, b time.Duration) time.Duration { return a + min(b, math.MaxInt64-a) }

// Words is what people call it: "whole", "cut", "30% lost, 100ms ± 20ms late".
func (s LinkState) Words() string {
	var words []string
	add := func(is bool, format string, args ...any) {
		if is {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	add(s.Cut, "cut")
	add(s.Loss > 0, "%.3g%% lost", 100*s.Loss)
	add(s.Delay > 0 || s.Jitter > 0, "%v ± %v late", s.Delay, s.Jitter)
	add(s.Duplicate > 0, "%.3g%% duplicated", 100*s.Duplicate)
	add(s.Reorder > 0, "%.3g%% reordered", 100*s.Reorder)
	add(s.Rate > 0, "limited to %d bit/s", s.Rate)
	add(s.Reset, "reset")
	add(s.Picked, "with single messages lost, late or repeated")
	if len(words) == 0 {
		return "whole"
	}
	return strings.Join(words, ", ")
}

// Key implements State.
func (l Link) Key() Key { return Key{Dimension: ofLinks, Node: l.From, To: l.To, Port: l.Port} }

// Healthy implements State.
func (l Link) Healthy() State { return Link{From: l.From, To: l.To, Port: l.Port} }

// Merge implements State.
func (l Link) Merge(other State) State {
	l.LinkState = l.And(other.(Link).LinkState)
	return l
}

// Same implements State. A kernel knows chances to a millionth.
func (l Link) Same(other State) bool {
	a, b := l.LinkState, other.(Link).LinkState
	near := func(p, q float64) bool { return math.Abs(p-q) < 3e-6 }
	if !near(a.Loss, b.Loss) || !near(a.Duplicate, b.Duplicate) || !near(a.Reorder, b.Reorder) {
		return false
	}
	a.Loss, a.Duplicate, a.Reorder = b.Loss, b.Duplicate, b.Reorder
	return a == b
}

// Name implements State.
func (l Link) Name() string {
	if l.Port != 0 {
		return fmt.Sprintf("link %s→%s port %d", l.From, l.To, l.Port)
	}
	return fmt.Sprintf("link %s→%s", l.From, l.To)
}
