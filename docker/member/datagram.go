package member

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"recount/election"
)

// One datagram carries one message:
//
//	version (1 byte, 1) · ok (1 byte, 0 or 1) · kind · term · value · node · list · data
//
// Numbers are unsigned varints; kind, list and data are preceded by their number of bytes or members. The sender is
// known by the address that the datagram comes from.

const (
	datagramVersion = 1
	maxDatagram     = 8 << 10 // bytes: what an election has to say is far shorter
	maxKind         = 64      // bytes
)

var errTooLong = fmt.Errorf("longer than %d bytes", maxDatagram)

// appendMessage appends m to b. It fails where m is more than a datagram may carry.
func appendMessage(b []byte, m *election.Message) ([]byte, error) {
	begin := len(b)
	ok := byte(0)
	if m.OK {
		ok = 1
	}
	b = append(b, datagramVersion, ok)
	b = binary.AppendUvarint(b, uint64(len(m.Kind)))
	b = append(b, m.Kind...)
	b = binary.AppendUvarint(b, m.Term)
	b = binary.AppendUvarint(b, m.Value)
	b = binary.AppendUvarint(b, uint64(m.Node))
	b = binary.AppendUvarint(b, uint64(len(m.List)))
	for _, id := range m.List {
		b = binary.AppendUvarint(b, uint64(id))
	}
	b = binary.AppendUvarint(b, uint64(len(m.Data)))
	b = append(b, m.Data...)
	if len(b)-begin > maxDatagram || len(m.Kind) > maxKind {
		return b[:begin], errTooLong
	}
	return b, nil
}

var errMalformed = errors.New("malformed datagram")

// decoder reads datagrams. It remembers the kinds it has met, so that the usual message allocates nothing.
type decoder struct {
	kinds map[string]string
	b     []byte
	bad   bool
}

const maxKinds = 256 // that are remembered: a stranger must not fill the memory

// message reads one datagram. What it returns does not refer to b.
func (d *decoder) message(b []byte) (m election.Message, err error) {
	if len(b) < 2 || len(b) > maxDatagram || b[0] != datagramVersion || b[1] > 1 {
		return m, errMalformed
	}
	d.b, d.bad = b[2:], false
	m.OK = b[1] == 1
	m.Kind = d.kind(d.bytes())
	m.Term = d.number(math.MaxUint64)
	m.Value = d.number(math.MaxUint64)
	m.Node = election.ID(d.number(math.MaxInt32))
	if n := d.number(uint64(len(d.b))); n > 0 && !d.bad { // a member takes at least one byte
		m.List = make([]election.ID, n)
		for i := range m.List {
			m.List[i] = election.ID(d.number(math.MaxInt32))
		}
	}
	if data := d.bytes(); len(data) > 0 {
		m.Data = bytes.Clone(data)
	}
	if d.bad || len(d.b) > 0 || m.Kind == "" {
		return election.Message{}, errMalformed
	}
	return m, nil
}

func (d *decoder) number(most uint64) uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || v > most {
		d.b, d.bad = nil, true
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) bytes() []byte {
	n := d.number(uint64(len(d.b)))
	if n > uint64(len(d.b)) {
		d.b, d.bad = nil, true
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *decoder) kind(b []byte) string {
	if k, known := d.kinds[string(b)]; known {
		return k
	}
	if len(b) > maxKind {
		d.bad = true
		return ""
	}
	k := string(b)
	if len(d.kinds) < maxKinds {
		if d.kinds == nil {
			d.kinds = map[string]string{}
		}
		d.kinds[k] = k
	}
	return k
}
