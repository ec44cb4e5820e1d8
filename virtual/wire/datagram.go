package wire

// Room that datagrams take which a process has not read, as Linux counts it: with what the kernel keeps beside each. One for which
// there is none left is dropped.
const (
	ReceiveRoom    = 212992          // net.core.rmem_default and rmem_max
	MaxReceiveRoom = 2 * ReceiveRoom // what SO_RCVBUF can make of it, which counts double
)

// Taken is the room that a datagram with so much data takes.
func Taken(data int) int {
	const (
		record  = 256     // the kernel's record of a packet,
		shared  = 320     // and what belongs to its data
		headers = 36 + 28 // of the link, and of IP and UDP
		page    = 4096
	)
	switch n := data + headers; {
	case n <= 256: // has a cache of its own
		return record + 256 + shared
	case n+shared <= 4*page:
		size := 512
		for size < n+shared {
			size *= 2
		}
		return record + size
	}
	return record + 512 + (data+page-1)/page*page
}
