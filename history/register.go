package history

import "strconv"

// Uses of registers and locks, of clients.
const (
	Get     F = "get"     // read a register; ok carries what was read
	Put     F = "put"     // write a register
	CAS     F = "cas"     // write a register if it holds Reg.Old; fail = it did not, or nothing was tried
	Acquire F = "acquire" // take a lock
	Release F = "release" // give it back
)

// Register is one use of a register, or of a lock.
type Register struct {
	Key      string `json:"key,omitempty"`      // which of several; "" where there is one
	Value    string `json:"value,omitempty"`    // written, or read; "" is nothing. Of a lock: who takes it or gives it back, where that counts
	Old      string `json:"old,omitempty"`      // CAS: what it takes
	Revision uint64 `json:"revision,omitempty"` // what the use left behind, where the store counts its writes; else 0
}

func init() {
	reg := pointed(func(op *Op) **Register { return &op.Reg })
	reg.append = func(op *Op, b []byte) []byte { return op.Reg.appendJSON(b) }
	reg.scan = func(s *scanner, op *Op) {
		op.Reg = new(Register)
		s.register(op.Reg)
	}
	register(kind{name: Get, value: reg, when: mayThenMust})
	register(kind{name: Put, value: reg, when: written})
	register(kind{name: CAS, value: reg, when: written})
	register(kind{name: Acquire, value: reg, when: maybe})
	register(kind{name: Release, value: reg, when: maybe})
}

// written is for what a client says when it begins, and what was done if it was.
var written = when{Invoke: must, OK: must, Fail: may, Info: may}

func (r *Register) appendJSON(b []byte) []byte {
	b = append(b, '{')
	begin := len(b)
	for _, field := range [...]struct{ name, value string }{{"key", r.Key}, {"value", r.Value}, {"old", r.Old}} {
		if field.value != "" {
			b = appendString(append(appendString(b, field.name), ':'), field.value)
			b = append(b, ',')
		}
	}
	if r.Revision != 0 {
		b = strconv.AppendUint(append(b, `"revision":`...), r.Revision, 10)
		b = append(b, ',')
	}
	if len(b) > begin {
		b = b[:len(b)-1]
	}
	return append(b, '}')
}

func (s *scanner) register(r *Register) {
	s.skip(`{`)
	if s.at(`}`) {
		return
	}
	for _, f := range [...]struct {
		name string
		to   *string
	}{{`"key":`, &r.Key}, {`"value":`, &r.Value}, {`"old":`, &r.Old}} {
		if s.at(f.name) {
			if *f.to = s.text(); s.at(`}`) {
				return
			}
			s.skip(`,`)
		}
	}
	s.skip(`"revision":`)
	r.Revision = s.count()
	s.skip(`}`)
}
