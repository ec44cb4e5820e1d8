package history

import "time"

// scanner reads the lines that AppendJSON writes, byte for byte, about twenty times as fast as encoding/json. Whatever
// differs from them by as much as a space it leaves to decode: what it does read, decode would have read in the same way.
type scanner struct {
	b     []byte
	bad   bool
	names map[string]string // strings met before, so that each is kept once
	last  [256]string       // those met last, by a few of their bytes: most are the same few
}

// op reads a line, or returns false.
func (s *scanner) op(line []byte, op *Op) bool {
	s.b, s.bad = line, false
	s.skip(`{"index":`)
	op.Index = int(s.number())
	s.skip(`,"time":`)
	op.Time = time.Duration(s.number())
	s.skip(`,"process":`)
	switch {
	case s.at(`"nemesis"`):
		op.Process = Nemesis
	case s.at(`"harness"`):
		op.Process = Harness
	default:
		n := s.number()
		if op.Process = Process(n); n < 0 || int64(op.Process) != n {
			return false
		}
	}
	s.skip(`,"type":"`)
	switch {
	case s.at(`invoke"`):
		op.Type = Invoke
	case s.at(`ok"`):
		op.Type = OK
	case s.at(`fail"`):
		op.Type = Fail
	case s.at(`info"`):
		op.Type = Info
	default:
		return false
	}
	s.skip(`,"f":`)
	op.F = F(s.text())
	if s.at(`,"node":`) {
		op.Node = s.text()
	}
	if s.bad || !s.value(op) {
		return false
	}
	if s.at(`,"error":`) {
		op.Error = s.text()
	}
	s.skip(`}`)
	return !s.bad && len(s.b) == 0
}

// value reads the value of the ops that are many: those whose kinds say how.
func (s *scanner) value(op *Op) bool {
	k := kindOf(op.F)
	if k.value == nil || k.value.scan == nil {
		return false
	}
	need := k.need(op.Type)
	if need == never {
		return true
	}
	if !s.at(`,"value":`) {
		return need == may
	}
	k.value.scan(s, op)
	return !s.bad
}

// at skips a text if it comes next.
func (s *scanner) at(text string) bool {
	if len(s.b) < len(text) || string(s.b[:len(text)]) != text {
		return false
	}
	s.b = s.b[len(text):]
	return true
}

func (s *scanner) skip(text string) {
	if !s.at(text) {
		s.bad, s.b = true, nil
	}
}

// count reads a number that is not negative.
func (s *scanner) count() uint64 {
	n := s.number()
	if n < 0 {
		s.bad = true
	}
	return uint64(n)
}

// number reads a whole number of up to 18 digits.
func (s *scanner) number() (n int64) {
	b, minus := s.b, false
	if len(b) > 0 && b[0] == '-' {
		b, minus = b[1:], true
	}
	i := 0
	for ; i < len(b) && i < 19 && '0' <= b[i] && b[i] <= '9'; i++ {
		n = n*10 + int64(b[i]-'0')
	}
	if i == 0 || i == 19 || b[0] == '0' && (i > 1 || minus) {
		s.bad, s.b = true, nil
		return 0
	}
	if s.b = b[i:]; minus {
		return -n
	}
	return n
}

// text reads a string of plain characters.
func (s *scanner) text() string {
	if len(s.b) == 0 || s.b[0] != '"' {
		s.bad, s.b = true, nil
		return ""
	}
	for i := 1; i < len(s.b); i++ {
		switch c := s.b[i]; {
		case c == '"':
			text := s.b[1:i]
			s.b = s.b[i+1:]
			return s.name(text)
		case c < ' ' || c == '\\' || c >= 0x7f:
			s.bad, s.b = true, nil
			return ""
		}
	}
	s.bad, s.b = true, nil
	return ""
}

// maxNames is how many strings are remembered: those of a history's errors and values may all differ.
const maxNames = 1 << 16

func (s *scanner) name(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	last := &s.last[uint8(len(b)*31)^b[0]*7^b[len(b)-1]]
	if *last == string(b) {
		return *last
	}
	text, known := s.names[string(b)]
	if !known {
		if text = string(b); len(s.names) < maxNames {
			s.names[text] = text
		}
	}
	*last = text
	return text
}
