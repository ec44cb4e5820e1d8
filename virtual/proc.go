package virtual

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"recount/docker/agent/disk"
	"recount/sim/clock"
	"recount/virtual/process"
	"recount/virtual/tcp"
	"recount/virtual/wire"
)

// proc is one process of a node. It is the owner of its connections.
type proc struct {
	node    *node
	program int
	born    uint64 // the life of the node that it belongs to
	life    *process.Process
	ended   bool
	next    int64         // when it wants to go on by itself, on its own clock; 0 for never
	floor   time.Duration // it was paused until then
	inbox   []wire.Message
	log     *os.File
	lines   [4][]byte // of its output, what has no end yet; by descriptor, and of its file

	conns     map[uint32]*tcp.Conn
	listeners map[uint32]*tcp.Listener
	binds     map[uint32]*bind
	settings  map[uint32]*settings
	files     map[uint32]*disk.File     // that it has open, where it is kept track of what a crash leaves
	early     map[uint32][]wire.Message // options of sockets that are not connected yet
	accepted  uint32                    // the last id that was given to a connection
	room      []acked                   // what it is to be told of with the next message
	turn      uint64                    // the seed that its chance is to go on with; 0 if with its own
	ends      func()                    // called when it has ended, if somebody waits for that
}

// settings are the options of a connection.
type settings struct {
	watched bool // over silence
	k       tcp.KeepAlive
	buffer  int // for what is sent
}

// acked is how much of what a connection has sent was acknowledged.
type acked struct {
	id uint32
	n  int
}

// newProcOf is what is known of a process that has done nothing.
func newProcOf(n *node, program int) *proc {
	return &proc{
		node: n, program: program, born: n.life, conns: map[uint32]*tcp.Conn{}, listeners: map[uint32]*tcp.Listener{},
		binds: map[uint32]*bind{}, settings: map[uint32]*settings{}, early: map[uint32][]wire.Message{},
		files:    map[uint32]*disk.File{},
		accepted: wire.FirstAccepted - 1,
	}
}

// newProc starts a process of a node, which does nothing yet.
func (n *node) newProc(program int) (*proc, error) {
	what, c, p := n.programs[program], n.c, newProcOf(n, program)
	var err error
	if p.log, err = os.OpenFile(n.log(program), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); err != nil {
		return nil, err
	}
	trace, err := c.config.Trace.create(p.which())
	if err != nil {
		return nil, errors.Join(err, p.log.Close())
	}
	if trace != nil {
		defer trace.Close()
	}
	names := map[string][4]byte{}
	for _, o := range c.nodes {
		names[o.name] = o.addr.As4()
	}
	start := int64(n.clock.At(c.now))
	p.life, err = process.Start(process.Options{
		Path: what.Path, Dir: inside(what.Dir), Args: what.Args, Env: append(n.environment(), what.Env...),
		Config: wire.Config{Host: n.name, Root: n.root, Names: names},
		IP:     n.addr.As4(),
		Seed:   p.seed(),
		Policy: c.config.Schedule.Policy, Preempt: c.config.Schedule.Preempt,
		Start: start, SyncTime: syncTime, Files: c.config.Disks, Stderr: p.log,
		Trace: trace, StopAt: c.stopAt(p.which()), Waits: p.waits,
	})
	if err != nil {
		return nil, errors.Join(err, p.log.Close())
	}
	p.next = start
	return p, nil
}

// wants is when the process is to go on.
func (p *proc) wants() time.Duration {
	n := p.node
	switch {
	case p.ended || n.still() || n.torn:
		return forever
	case len(p.inbox) > 0:
		return n.cpu.Goes(n.c.now)
	case p.next == 0:
		return forever
	}
	return n.cpu.Goes(max(n.clock.Until(n.c.now, time.Duration(p.next)), p.floor))
}

// run lets the process go on at this instant, and carries out what it did.
func (p *proc) run() {
	n, c := p.node, p.node.c
	local := int64(n.clock.At(c.now))
	for _, a := range p.room {
		p.tell(wire.Acked, a.id, wire.Put32(nil, uint32(a.n)))
	}
	p.room = p.room[:0]
	now := process.Fitting(p.inbox) // for the rest it is asked again, at this instant
	g := process.Grant{
		Floor: local, Horizon: local + 1, Messages: p.inbox[:now], Disk: n.granted(), Turn: p.turn,
		Wall: clock.Epoch.UnixNano() + int64(n.clock.Wall(c.now)+n.apart) - local,
	}
	for i := range g.Messages {
		g.Messages[i].At = local
	}
	p.turn = 0
	r, err := p.life.Run(g)
	p.inbox = append(p.inbox[:0], p.inbox[now:]...)
	if err != nil {
		p.stuck(err)
		return
	}
	p.next = r.Next
	n.wrote = n.wrote || r.Wrote
	if r.Wrote {
		n.readFile(p)
	}
	c.note(uint64(c.now)<<8 | uint64(n.index))
	c.note(r.Hash)
	for _, m := range r.Messages {
		c.note(uint64(m.Type)<<32 | uint64(m.Socket))
		c.noteBytes(m.Data)
		if len(c.traps) > 0 || n.torn {
			p.trapped(m)
		} else {
			p.did(m)
		}
	}
	c.config.Trace.add(Turn{p.which(), c.now, r.Events, c.hash}, r.Messages)
	if r.Ended != nil && !n.torn {
		p.over(r.Ended)
	}
}

// over is called when the process has ended by itself.
func (p *proc) over(state *os.ProcessState) {
	p.close()
	if s := p.stopped(); s != nil {
		p.node.c.lose(s)
		return
	}
	code := state.ExitCode()
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		code = 128 + int(status.Signal())
	}
	p.node.c.note(uint64(code))
	ends := p.ends
	p.node.exited(code)
	if ends != nil {
		ends()
	}
}

// end ends the process as SIGKILL does.
func (p *proc) end() error {
	if p.ended {
		return nil
	}
	var err error
	if ran := p.node.c.config.Ran; ran != nil {
		err = ran.Read(p.node.programs[p.program].Path, p.life.PID())
	}
	err = errors.Join(err, p.life.Kill())
	p.close()
	if p.ends != nil {
		p.node.c.After(0, p.ends)
	}
	return err
}

// close has the kernel close what the process had, when it has ended.
func (p *proc) close() {
	p.ended = true
	for fd, rest := range p.lines {
		if len(rest) > 0 {
			p.output(fd, []byte("\n"))
		}
	}
	n := p.node
	n.tcp.Ended(p)
	for _, b := range p.binds {
		b.unbind()
	}
	p.log.Close()
}

// tell puts a message into the inbox of the process.
func (p *proc) tell(kind, socket uint32, data []byte) {
	if !p.ended {
		p.inbox = append(p.inbox, wire.Message{Type: kind, Socket: socket, Data: data})
	}
}

// did carries out one thing that the process did.
func (p *proc) did(m wire.Message) {
	switch m.Type {
	case wire.Output:
		p.output(int(wire.Get32(m.Data)), m.Data[4:])
	case wire.Listen:
		at, rest := wire.CutAddr(m.Data)
		l := p.node.tcp.Listen(p, m.Socket, address(at), int(wire.Get32(rest)), wire.Get32(rest[4:]) != 0)
		if l == nil {
			p.tell(wire.Failed, m.Socket, wire.Put32(nil, uint32(syscall.EADDRINUSE)))
			return
		}
		p.listeners[m.Socket] = l
	case wire.Bind:
		p.socket(m.Socket).bind(m.Data)
	case wire.Join, wire.Leave:
		p.socket(m.Socket).join(m.Data, m.Type == wire.Join)
	case wire.Connect:
		to, rest := wire.CutAddr(m.Data)
		from, _ := wire.CutAddr(rest)
		c := p.node.tcp.Connect(p, m.Socket, address(from), address(to))
		if c == nil {
			p.tell(wire.Failed, m.Socket, wire.Put32(nil, uint32(syscall.EADDRNOTAVAIL)))
			return
		}
		p.conns[m.Socket] = c
		for _, o := range p.early[m.Socket] {
			p.connDid(c, o)
		}
		delete(p.early, m.Socket)
	case wire.Datagram:
		p.datagram(m.Socket, m.Data)
	case wire.Close, wire.Reset:
		p.closed(m)
	case wire.File:
		p.changed(m.Data)
	case wire.Refused:
		p.node.c.onRefused(p.node.name, string(m.Data))
	default:
		if c := p.conns[m.Socket]; c != nil {
			p.connDid(c, m)
		} else if m.Type == wire.Option {
			p.early[m.Socket] = append(p.early[m.Socket], wire.Message{Type: m.Type, Data: bytes.Clone(m.Data)})
		}
	}
}

// connDid carries out what the process did to a connection.
func (p *proc) connDid(c *tcp.Conn, m wire.Message) {
	switch m.Type {
	case wire.Data:
		c.Write(m.Data)
	case wire.Fin:
		c.Shut()
	case wire.Accept:
		c.Taken()
	case wire.Consumed:
		c.Read(int(wire.Get32(m.Data)))
	case wire.Option:
		p.option(c, wire.Get32(m.Data), int64(wire.Get64(m.Data[4:])))
	}
}

// closed closes a socket of any kind.
func (p *proc) closed(m wire.Message) {
	delete(p.early, m.Socket)
	switch {
	case p.conns[m.Socket] != nil:
		c := p.conns[m.Socket]
		p.forget(c)
		if m.Type == wire.Reset {
			c.Abort()
		} else {
			c.Close()
		}
	case p.listeners[m.Socket] != nil:
		p.listeners[m.Socket].Close()
		delete(p.listeners, m.Socket)
	default:
		if b := p.binds[m.Socket]; b != nil {
			b.unbind()
		}
	}
}

func (p *proc) forget(c *tcp.Conn) {
	delete(p.conns, c.ID)
	delete(p.settings, c.ID)
	p.room = slices.DeleteFunc(p.room, func(a acked) bool { return a.id == c.ID })
}

// option sets an option of a connection.
func (p *proc) option(c *tcp.Conn, option uint32, value int64) {
	w := p.settings[c.ID]
	if w == nil {
		// As Linux has it for those who ask for no times: two hours, 75 s, nine probes.
		w = &settings{k: tcp.KeepAlive{Idle: 2 * time.Hour, Interval: 75 * time.Second, Count: 9}, buffer: wire.SendBuffer}
		p.settings[c.ID] = w
	}
	switch option {
	case wire.KeepAlive:
		w.watched = value != 0
	case wire.KeepAliveIdle:
		w.k.Idle = time.Duration(value)
	case wire.KeepAliveInterval:
		w.k.Interval = time.Duration(value)
	case wire.KeepAliveCount:
		w.k.Count = int(value)
	case wire.SendBufferSize:
		w.buffer = int(value)
		return
	case wire.UserTimeout:
		c.SetUserTimeout(time.Duration(value))
		return
	default:
		return
	}
	if w.watched {
		c.SetKeepAlive(w.k)
	} else {
		c.SetKeepAlive(tcp.KeepAlive{})
	}
}

// ofFile is where output has what came by a file.
const ofFile = 3

// maxLine is where a line that does not end is broken, as of the logs of containers.
const maxLine = 1 << 20

// output takes what the process wrote to its standard output or error.
func (p *proc) output(fd int, b []byte) {
	p.keep(b)
	if p.node.logs == nil || p.program > 0 || fd >= len(p.lines) {
		return
	}
	p.lines[fd] = append(p.lines[fd], b...)
	for {
		line, rest, ended := bytes.Cut(p.lines[fd], []byte("\n"))
		switch {
		case !ended && len(line) < maxLine:
			return
		case !ended && !p.node.long:
			p.node.long = true
			p.node.c.tell(fmt.Sprintf("%s: its log has a line of more than %d MiB, which is read in pieces", p.node.name, maxLine>>20))
		}
		p.lines[fd] = rest
		p.node.logs(string(bytes.TrimSuffix(line, []byte("\r"))))
	}
}

// What follows is tcp.Owner.

func (p *proc) Accepted(l *tcp.Listener, c *tcp.Conn) {
	p.accepted++
	c.ID = p.accepted
	p.conns[c.ID] = c
	b := wire.Put32(nil, c.ID)
	b = wire.AppendAddr(b, wired(c.Remote()))
	p.tell(wire.Accepted, l.ID, wire.AppendAddr(b, wired(c.Local())))
}

func (p *proc) Connected(c *tcp.Conn) { p.tell(wire.Connected, c.ID, nil) }
func (p *proc) Ended(c *tcp.Conn)     { p.tell(wire.Fin, c.ID, nil) }

func (p *proc) Arrived(c *tcp.Conn, b []byte) {
	p.node.received(c.Remote().Addr())
	for len(b) > wire.MaxData {
		p.tell(wire.Data, c.ID, b[:wire.MaxData])
		b = b[wire.MaxData:]
	}
	p.tell(wire.Data, c.ID, b)
}

func (p *proc) Failed(c *tcp.Conn, err syscall.Errno) {
	p.forget(c)
	p.tell(wire.Failed, c.ID, wire.Put32(nil, uint32(err)))
}

// Acked keeps in mind that there is room again. A process that has enough of it is told with the next message only: to
// wake it for that alone would cost more than all else.
func (p *proc) Acked(c *tcp.Conn, n int) {
	buffer := wire.SendBuffer
	if s := p.settings[c.ID]; s != nil {
		buffer = s.buffer
	}
	i := slices.IndexFunc(p.room, func(a acked) bool { return a.id == c.ID })
	if i < 0 {
		i = len(p.room)
		p.room = append(p.room, acked{id: c.ID})
	}
	if p.room[i].n += n; p.room[i].n >= buffer/2 {
		p.tell(wire.Acked, c.ID, wire.Put32(nil, uint32(p.room[i].n)))
		p.room = slices.Delete(p.room, i, i+1)
	}
}
