package wire

// Messages. Each has a header of 24 bytes (type, socket, time, length) and data padded to a multiple of 8.
const (
	MessageHeader = 24

	// Node to controller.
	Listen   = 'L' // Addr, uint32 backlog, uint32 Shared or 0: socket takes TCP connections
	Bind     = 'B' // local Addr, Addr of the only one that it hears or none, uint32 Shared and the like: socket takes datagrams. It may be told again
	Join     = 'J' // 4 bytes of a group, uint32 interface: socket hears what is sent to that group, once it is bound
	Leave    = 'Q' // the same: it does not any more
	Connect  = 'C' // remote Addr, local Addr: a SYN is to be sent
	Accept   = 'A' // the process took socket, a connection, from its listener's queue
	Data     = 'D' // bytes of a connection, either way
	Fin      = 'F' // no more data will come, either way
	Close    = 'X' // the process closed socket, all of which had been read; it is not mentioned again
	Reset    = 'R' // the process closed socket and data unread is thrown away: RST; it is not mentioned again
	Consumed = 'W' // uint32: bytes of Data the process has read, told when they are MinConsumed, or all that had come
	Datagram = 'U' // Addr that it goes to, then the bytes; or Addr that it comes from, Addr that it was sent to, then the bytes
	Option   = 'O' // uint32 option, int64 value: see the options
	File     = 'f' // a change of files, see Change
	Output   = 'o' // uint32 descriptor (1, 2), then what was written to it
	Refused  = 'r' // text: the program asked for what a node cannot have, and got an error

	// Controller to node.
	Accepted  = 'a' // socket's (a listener's) new connection: uint32 its id, remote Addr, local Addr
	Connected = 'c' // the handshake is done
	Failed    = 'e' // uint32 errno: refused, reset, timed out; the connection is gone on the controller's side. Of datagrams, then the Addr that refuses them
	Acked     = 'k' // uint32: bytes of Data the peer's kernel has, for which there is room again
	Signal    = 's' // uint32: signal number, to the process (socket 0)
)

// Limits of connections.
const (
	SendBuffer  = 2 << 20  // bytes sent and not acknowledged, at most, unless SO_SNDBUF told otherwise
	MinConsumed = 32 << 10 // a receive window is to be twice this, at least
)

// Bits of what sockets are.
const (
	Shared  = 1 << iota // others have its port, too, and each is given a share of what comes (SO_REUSEPORT)
	Choosy              // it hears what is sent to groups only where it has joined them itself (IP_MULTICAST_ALL off)
	Unheard             // what it sends to groups is not heard on its own machine (IP_MULTICAST_LOOP off)
	Near                // what it sends to groups goes no further than that (IP_MULTICAST_TTL of 0)
	Within              // it sends to groups by Lo, and not by Eth0
)

// Interfaces of a node's machine.
const (
	Lo   = 1
	Eth0 = 2
)

// NetBits is how many bits of a node's address are its network's.
const NetBits = 16

// ToGroup tells whether an address is one of groups.
func (a Addr) ToGroup() bool { return a.IP[0]>>4 == 14 }

// ToAll tells whether an address is that of all machines of a network, in which a machine has ip.
func (a Addr) ToAll(ip [4]byte) bool {
	return a.IP == [4]byte{255, 255, 255, 255} || a.IP == [4]byte{ip[0], ip[1], 255, 255}
}

// Options of sockets that the controller is told of. Times are nanoseconds.
const (
	KeepAlive         = 1 + iota // 0 or 1
	KeepAliveIdle                // time without data before the first probe
	KeepAliveInterval            // time between probes
	KeepAliveCount               // probes unanswered
	UserTimeout                  // time that data may stay unacknowledged
	NoDelay                      // 0 or 1
	Linger                       // -1 off
	ReceiveBuffer                // bytes
	SendBufferSize               // bytes
)

// Changes of files. Paths are absolute, as the program sees them, with no link on the way and no dots. What is open has a number, for its
// names come and go meanwhile.
const (
	Create   = 'c' // Path is a new, empty file
	Mkdir    = 'm'
	Hold     = 'o' // Path, a file or a folder, is called File until it is released
	Release  = 'x'
	Write    = 'w' // Data is at Offset of File now
	Truncate = 't' // File, or if that is 0 Path, has Offset bytes now
	Sync     = 's' // File is on disk; with 0, everything is
	Unsynced = 'u' // a sync of File has failed; with 0, of everything
	Rename   = 'r' // Path is To now; what To was is gone
	Exchange = 'e' // Path is To now, and To is Path
	Link     = 'l' // To is another name of Path's file
	Symlink  = 'y' // To is a symbolic link with text Path
	Remove   = 'd' // Path, a file or an empty folder, is gone
	Map      = 'p' // File is written through memory from now on: what becomes of it is told with each sync, and when that is over
)

// Addr is an IPv4 address and a port.
type Addr struct {
	IP   [4]byte
	Port uint16
}

// AddrSize is the length of an encoded Addr.
const AddrSize = 6

// Message is one message in an area. Data is part of the area: copy what is kept.
type Message struct {
	Type   uint32
	Socket uint32
	At     int64 // when it was sent, or arrives
	Data   []byte
}

// Change is the data of a File message.
type Change struct {
	Kind   byte
	File   uint32
	Offset int64
	Path   string
	To     string
	Data   []byte
}

// Append adds m to an area's bytes.
func Append(b []byte, m Message) []byte {
	b = Put32(b, m.Type)
	b = Put32(b, m.Socket)
	b = Put64(b, uint64(m.At))
	b = Put64(b, uint64(len(m.Data)))
	b = append(b, m.Data...)
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	return b
}

// MessageSize is how much room a message with so much data takes.
func MessageSize(data int) int { return MessageHeader + (data+7)&^7 }

// Cut takes the first message from an area's bytes. ok is false at their end, and for a length that they do not have.
func Cut(b []byte) (m Message, rest []byte, ok bool) {
	if len(b) < MessageHeader {
		return m, nil, false
	}
	n := Get64(b[16:])
	if n > MaxData || MessageSize(int(n)) > len(b) {
		return m, nil, false
	}
	m = Message{Type: Get32(b), Socket: Get32(b[4:]), At: int64(Get64(b[8:])), Data: b[MessageHeader : MessageHeader+n : MessageHeader+n]}
	return m, b[MessageSize(int(n)):], true
}

// AppendAddr and CutAddr encode an address.
func AppendAddr(b []byte, a Addr) []byte {
	return append(b, a.IP[0], a.IP[1], a.IP[2], a.IP[3], byte(a.Port), byte(a.Port>>8))
}

// CutAddr takes an address from the front of b, which has one.
func CutAddr(b []byte) (Addr, []byte) {
	return Addr{[4]byte(b[:4]), uint16(b[4]) | uint16(b[5])<<8}, b[AddrSize:]
}

// AppendChange encodes a change of files.
func AppendChange(b []byte, c Change) []byte {
	b = Put32(b, uint32(c.Kind))
	b = Put32(b, c.File)
	b = Put64(b, uint64(c.Offset))
	b = Put32(b, uint32(len(c.Path)))
	b = append(b, c.Path...)
	b = Put32(b, uint32(len(c.To)))
	b = append(b, c.To...)
	return append(b, c.Data...)
}

// ParseChange is the inverse of AppendChange.
func ParseChange(b []byte) (c Change, ok bool) {
	if len(b) < 16 {
		return c, false
	}
	c.Kind, c.File, c.Offset = byte(Get32(b)), Get32(b[4:]), int64(Get64(b[8:]))
	b = b[16:]
	for _, s := range []*string{&c.Path, &c.To} {
		if len(b) < 4 || uint64(Get32(b)) > uint64(len(b)-4) {
			return c, false
		}
		n := Get32(b)
		*s, b = string(b[4:4+n]), b[4+n:]
	}
	c.Data = b
	return c, true
}

// Put32 and the like append and read numbers, the least byte first.
func Put32(b []byte, v uint32) []byte {
	return append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
}

// Put64 appends 8 bytes.
func Put64(b []byte, v uint64) []byte { return Put32(Put32(b, uint32(v)), uint32(v>>32)) }

// Get32 reads 4 bytes.
func Get32(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// Get64 reads 8 bytes.
func Get64(b []byte) uint64 { return uint64(Get32(b)) | uint64(Get32(b[4:]))<<32 }
