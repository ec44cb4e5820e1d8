package virtual

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"recount/virtual/wire"
)

// Which is a process of a run.
type Which struct {
	Node    string
	Life    uint64 // of the node, from 1
	Program int    // of those that the node runs, from 0
}

func (w Which) String() string {
	s := w.Node
	if w.Program > 0 {
		s += fmt.Sprintf("'s program %d", w.Program+1)
	}
	if w.Life > 1 {
		s += fmt.Sprintf(", started for the %d. time", w.Life)
	}
	return s
}

// Turn is what a process did from a grant to its report.
type Turn struct {
	Which
	At     time.Duration
	Events uint64 // of its scheduler, since it began
	Hash   uint64 // of the run so far: of this turn and of all before it
}

// Trace is what is taken down of a run, to be compared with another of the same seed. It may be read when the run is over.
type Trace struct {
	Dir   string // takes the scheduler's events of each process, a file of wire.Event each
	Turns []Turn

	// Keep is the turn, by its place in Turns, whose messages are kept in Kept, one after the other: of all there would be too many.
	Keep int
	Kept []byte
}

// create makes the file for a process's events; nil if nothing is taken down.
func (t *Trace) create(w Which) (*os.File, error) {
	if t == nil {
		return nil, nil
	}
	return os.Create(t.path(w))
}

func (t *Trace) path(w Which) string {
	return filepath.Join(t.Dir, fmt.Sprintf("%s-%d-%d.events", w.Node, w.Life, w.Program))
}

// add takes down a turn, in which the process sent messages.
func (t *Trace) add(turn Turn, sent []wire.Message) {
	if t == nil {
		return
	}
	if len(t.Turns) == t.Keep {
		for _, m := range sent {
			t.Kept = append(t.Kept, m.Data...)
		}
	}
	t.Turns = append(t.Turns, turn)
}

// Difference is the first thing that two runs of one seed did differently.
type Difference struct {
	Turn  int     // the place of the first turn that differs
	Turns [2]Turn // what it is; the zero Turn for a run that had no more
	Event uint64  // the first event of the process's scheduler that differs, from 1; 0 if the schedulers did the same
	// From there on, the first event of a goroutine in each run, and which it is: that time has moved tells less than who was
	// waiting for it. The zero Event where there was no more.
	Events [2]wire.Event
	At     [2]uint64
}

// Compare returns the first difference between two runs, and false if there is none.
func Compare(a, b *Trace) (d Difference, differ bool, err error) {
	i := 0
	for i < min(len(a.Turns), len(b.Turns)) && a.Turns[i] == b.Turns[i] {
		i++
	}
	d.Turn = i
	for k, t := range []*Trace{a, b} {
		if i < len(t.Turns) {
			d.Turns[k], differ = t.Turns[i], true
		}
	}
	if !differ || d.Turns[0].Which != d.Turns[1].Which {
		return d, differ, nil
	}
	return d, true, d.find(a, b)
}

// find looks for the event.
func (d *Difference) find(a, b *Trace) error {
	var in [2]*bufio.Reader
	for k, t := range []*Trace{a, b} {
		f, err := os.Open(t.path(d.Turns[k].Which))
		if err != nil {
			return err
		}
		defer f.Close()
		in[k] = bufio.NewReader(f)
	}
	next := func(k int) (e wire.Event) { // the zero Event where there is no more
		var raw [unsafe.Sizeof(e)]byte
		if _, err := io.ReadFull(in[k], raw[:]); err != nil {
			return wire.Event{}
		}
		return *(*wire.Event)(unsafe.Pointer(&raw))
	}
	for n := uint64(1); n <= max(d.Turns[0].Events, d.Turns[1].Events); n++ {
		one, other := next(0), next(1)
		if one == other {
			continue
		}
		d.Event, d.Events, d.At = n, [2]wire.Event{one, other}, [2]uint64{n, n}
		for k := range d.Events {
			for d.Events[k].Kind != 0 && d.Events[k].ID == 0 {
				d.Events[k] = next(k)
				d.At[k]++
			}
		}
		break
	}
	return nil
}

// Stop is an event at which a run is to end.
type Stop struct {
	Which
	Event uint64 // of its scheduler, from 1
}

// Stopped is the error of a run that came to its Stop.
type Stopped struct {
	Stacks string // of all goroutines of the process, after a line that names the event's
}

func (s *Stopped) Error() string { return "the run was stopped where it was to be" }

const stoppedAt = "recount: stopped at scheduler event " // as the overlay writes it

// Stack is that of the event's goroutine.
func (s *Stopped) Stack() string {
	line, rest, _ := strings.Cut(s.Stacks, "\n")
	_, goroutine, _ := strings.Cut(line, " of goroutine ")
	for _, stack := range strings.Split(rest, "\n\n") {
		if strings.HasPrefix(strings.TrimSpace(stack), "goroutine "+goroutine+" ") {
			return strings.TrimSpace(stack)
		}
	}
	return ""
}

// stopAt is the event at which a process ends; 0 for none.
func (c *Cluster) stopAt(w Which) uint64 {
	if s := c.config.Stop; s != nil && s.Which == w {
		return s.Event
	}
	return 0
}

// stopped returns what the process wrote when it came to its Stop; nil if it did not.
func (p *proc) stopped() *Stopped {
	if p.node.c.stopAt(p.which()) == 0 {
		return nil
	}
	log, err := os.ReadFile(p.node.log(p.program))
	if err != nil {
		return nil
	}
	at := strings.LastIndex(string(log), stoppedAt+strconv.FormatUint(p.node.c.config.Stop.Event, 10)+" ")
	if at < 0 {
		return nil
	}
	return &Stopped{Stacks: string(log[at:])}
}

func (p *proc) which() Which { return Which{p.node.name, p.born, p.program} }
